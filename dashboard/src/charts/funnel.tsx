import type { ReactNode } from 'react'
import { useLocale } from '../ui/figures.tsx'
import { type FunnelRow, type FunnelStep, measureSteps } from './funnel-steps.ts'

type Props = {
  steps: readonly FunnelStep[]
  /** What the steps are, in a sentence: read aloud instead of the picture. */
  description: string
  /** Headings of the table that screen readers get: steps, values, share of the step before, share of the first. */
  columns: readonly [ReactNode, ReactNode, ReactNode, ReactNode]
  formatShare(share: number): string
  height?: number
  className?: string
}

/** Bars of steps that fewer and fewer take, with the rates between them. A step above another has a factor, not a share. */
export function Funnel({ steps, description, columns, formatShare, height = 200, className = '' }: Props) {
  const rows = measureSteps(steps)
  const factor = new Intl.NumberFormat(useLocale(), { maximumFractionDigits: 2 })
  const share = (value?: number) => {
    if (value === undefined) return '–'
    return value > 1 ? `× ${factor.format(value)}` : formatShare(value)
  }
  return (
    <figure className={`relative ${className}`}>
      <div role="img" aria-label={description}>
        <div aria-hidden className="flex" style={{ height }}>
          {rows.map((row, index) => (
            <Step key={row.id} row={row} next={rows[index + 1]} share={share} ofFirst={index > 1 && columns[3]} />
          ))}
        </div>
      </div>
      <div className="sr-only">
        <table>
          <caption>{description}</caption>
          <thead>
            <tr>
              {columns.map((column, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: there are four
                <th key={index} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, text, ofPrevious, ofFirst }, index) => (
              <tr key={id}>
                <th scope="row">{name}</th>
                <td>{text}</td>
                <td>{index > 0 && share(ofPrevious)}</td>
                <td>{index > 0 && share(ofFirst)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  )
}

type StepProps = { row: FunnelRow; next?: FunnelRow; share(value?: number): string; ofFirst: ReactNode }

/** A step with its bar, and what leads from it to the next. */
function Step({ row, next, share, ofFirst }: StepProps) {
  const { name, text, className, height } = row
  return (
    <>
      <div className="flex min-w-0 flex-5 flex-col">
        <div className="truncate text-xs text-muted">{name}</div>
        <div className="truncate text-sm font-semibold">{text}</div>
        <div className="h-5 truncate text-xs text-faint">
          {ofFirst && (
            <>
              <span className="max-sm:hidden">{ofFirst}: </span>
              {share(row.ofFirst)}
            </>
          )}
        </div>
        <div className="flex flex-1 items-end border-b">
          <div className={`w-full rounded-t-sm bg-current ${className}`} style={{ height: `${height}%` }} />
        </div>
      </div>
      {next && (
        <div className="flex min-w-0 flex-4 flex-col">
          <div className="h-14" />
          <div className={`relative flex-1 border-b ${next.className}`}>
            <svg aria-hidden preserveAspectRatio="none" viewBox="0 0 100 100" className="absolute size-full">
              <path d={`M0,${100 - height}L100,${100 - next.height}V100H0z`} fill="currentColor" fillOpacity={0.14} />
            </svg>
            <span className="absolute inset-x-0 bottom-2 text-center text-xs font-medium whitespace-nowrap text-ink">
              <span className="max-sm:hidden">→ </span>
              {share(next.ofPrevious)}
            </span>
          </div>
        </div>
      )}
    </>
  )
}
