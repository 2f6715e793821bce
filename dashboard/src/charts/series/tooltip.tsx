import { Trans } from '@lingui/react/macro'
import { readPosition, type SeriesProps } from '../series.ts'
import { Tooltip } from '../tooltip.tsx'

type Props = { series: SeriesProps; index: number; x: number; width: number }

/** The values of a position with their own names, and its notes. */
export function SeriesTooltip({ series, index, x, width }: Props) {
  const { point, compared, texts, isPartial } = readPosition(series, index)
  const rows = [
    point && { ...point, mark: 'border-current', className: series.className ?? '' },
    compared && { ...compared, mark: 'border-dashed border-current', className: 'text-faint' },
  ].filter((row) => row !== undefined)
  return (
    <Tooltip x={x} width={width}>
      {rows.map(({ name, value, mark, className }) => (
        <div key={mark} className="flex items-center gap-1.5">
          <span className={`w-3 border-t-2 ${mark} ${className}`} />
          <span className="text-muted">{name}</span>
          <span className="ml-auto pl-2 font-medium whitespace-nowrap">{series.format(value)}</span>
        </div>
      ))}
      {isPartial && (
        <div className="text-muted">
          <Trans>not complete yet</Trans>
        </div>
      )}
      {texts.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two notes may have the same text
        <div key={at} className="line-clamp-4 border-t pt-0.5 break-words first:border-0 nth-last-1:mb-0.5">
          {text}
        </div>
      ))}
    </Tooltip>
  )
}
