import { Trans, useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { type KeyboardEvent, type PointerEvent, useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { AddressInput } from './builder-inputs.tsx'
import { boundaries, leastShare, moveBoundary, shared } from './builder-shares.ts'
import type { BuilderForm, Variant } from './builder-values.ts'

const mostVariants = 4

/** A split of visitors between two to four destinations, until the best of them becomes the only one. */
export function TestSection({ values, set, errors }: BuilderForm) {
  const { t } = useLingui()
  const { testVariants: variants } = values
  if (variants.length === 0) {
    const start = () =>
      set({ testVariants: shared([values.url, '']), testCompletedAt: values.testCompletedAt || 'in 2 weeks' })
    return (
      <div className="flex flex-col items-start gap-2 text-sm text-muted">
        <p>
          <Trans>Visitors are split between two to four destinations. At the end, the best one stays.</Trans>
        </p>
        <Button onClick={start}>
          <Trans>Start a test</Trans>
        </Button>
      </div>
    )
  }
  const urls = variants.map(({ url }) => url)
  const setUrl = (index: number, url: string) =>
    set({ testVariants: variants.map((variant, at) => (at === index ? { ...variant, url } : variant)) })
  const remove = (index: number) => {
    const rest = urls.filter((_, at) => at !== index)
    set(rest.length < 2 ? { testVariants: [], testCompletedAt: '' } : { testVariants: shared(rest) })
  }
  return (
    <>
      <ShareBar variants={variants} onChange={(testVariants) => set({ testVariants })} />
      {variants.map(({ url, percentage }, index) => {
        const name = letter(index)
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: A destination is known by its place alone.
          <div key={index} className="flex items-end gap-1.5">
            <Field
              label={
                <Trans>
                  Destination {name}, {percentage} %
                </Trans>
              }
              className="flex-1"
            >
              <AddressInput value={url} onChange={(url) => setUrl(index, url)} />
            </Field>
            <Button
              kind="quiet"
              size="icon"
              aria-label={t`Leave out destination ${name}`}
              onClick={() => remove(index)}
            >
              <X size={14} aria-hidden />
            </Button>
          </div>
        )
      })}
      {errors.testVariants && (
        <p role="alert" className="text-xs text-harm">
          {errors.testVariants}
        </p>
      )}
      {variants.length < mostVariants && (
        <Button size="small" className="self-start" onClick={() => set({ testVariants: shared([...urls, '']) })}>
          <Trans>Add a destination</Trans>
        </Button>
      )}
      <Field label={<Trans>Ends</Trans>} error={errors.testCompletedAt}>
        <TextInput
          autoComplete="off"
          value={values.testCompletedAt}
          maxLength={100}
          onChange={(event) => set({ testCompletedAt: event.target.value })}
        />
      </Field>
    </>
  )
}

type BarProps = { variants: readonly Variant[]; onChange(variants: Variant[]): void }

/** The shares as a bar; where two meet is dragged, or moved by arrow keys. */
function ShareBar({ variants, onChange }: BarProps) {
  const { t } = useLingui()
  const bar = useRef<HTMLDivElement>(null)
  const ends = boundaries(variants)
  const drag = (event: PointerEvent, index: number) => {
    if (!bar.current || event.buttons !== 1) return
    const { left, width } = bar.current.getBoundingClientRect()
    onChange(moveBoundary(variants, index, ((event.clientX - left) / width) * 100))
  }
  const press = (event: KeyboardEvent, index: number) => {
    const step = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key]
    if (!step) return
    event.preventDefault()
    onChange(moveBoundary(variants, index, (ends[index] ?? 0) + step))
  }
  return (
    <div ref={bar} className="relative flex h-8 touch-none select-none max-md:h-11">
      {variants.map(({ percentage }, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: A destination is known by its place alone.
          key={index}
          aria-hidden
          style={{ flexGrow: percentage, flexBasis: 0 }}
          className="grid place-items-center overflow-hidden border-r border-line-strong bg-accent-soft text-xs first:rounded-l-md last:rounded-r-md last:border-r-0"
        >
          {letter(index)} {percentage} %
        </div>
      ))}
      {ends.map((end, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: A boundary is known by its place alone.
          key={index}
          role="slider"
          tabIndex={0}
          aria-label={t`Share of destination ${letter(index)}`}
          aria-valuemin={leastShare}
          aria-valuemax={100 - leastShare * (variants.length - 1)}
          aria-valuenow={variants[index]?.percentage}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={(event) => drag(event, index)}
          onKeyDown={(event) => press(event, index)}
          style={{ left: `${end}%` }}
          className="absolute inset-y-0 -ml-3 w-6 cursor-col-resize rounded-md after:absolute after:inset-y-1 after:left-2.5 after:w-1 after:rounded-full after:bg-accent focus-visible:shadow-focus max-md:-ml-5.5 max-md:w-11 max-md:after:left-5"
        />
      ))}
    </div>
  )
}

function letter(index: number): string {
  return 'ABCD'.charAt(index)
}
