import { Trans, useLingui } from '@lingui/react/macro'
import { useRef } from 'react'
import { Checkbox } from '../../ui/checkbox.tsx'
import { useRowsInView } from '../../ui/rows-in-view.ts'
import type { Row } from './dimensions.ts'
import { type Measure, useMeasureFormat } from './measures.ts'

type NamedRow = { row: Row; key: string; name: string }
type Props = {
  rows: readonly NamedRow[]
  measure: Measure
  isChosen(row: Row): boolean
  /** Undefined where the API has no filter for the dimension. */
  onToggle: ((row: Row) => void) | undefined
}

const rowHeight = 36
const frameHeight = 320

/** Up to 5,000 rows, of which those on the screen are in the page. */
export function AllValuesList({ rows, measure, isChosen, onToggle }: Props) {
  const { t } = useLingui()
  const format = useMeasureFormat(measure)
  const frame = useRef<HTMLDivElement>(null)
  const indexes = useRowsInView(() => ({ scrolled: frame.current?.scrollTop ?? 0, viewHeight: frameHeight }), {
    rowHeight,
    count: rows.length,
  })
  if (rows.length === 0) {
    return (
      <p role="status" className="h-80 text-sm text-muted">
        <Trans>Nothing matches.</Trans>
      </p>
    )
  }
  return (
    <div ref={frame} className="h-80 overflow-y-auto" tabIndex={-1}>
      <ul aria-label={t`Values`} className="relative" style={{ height: rows.length * rowHeight }}>
        {indexes.map((index) => {
          const item = rows[index] as NamedRow
          return (
            <li
              key={item.key}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 flex h-9 items-center gap-3 border-b text-sm"
              style={{ top: index * rowHeight }}
            >
              {/* biome-ignore lint/a11y/noLabelWithoutControl: the checkbox is inside */}
              <label className="flex min-w-0 flex-1 items-center gap-2.5">
                {onToggle && <Checkbox checked={isChosen(item.row)} onCheckedChange={() => onToggle(item.row)} />}
                <bdi className="truncate">{item.name}</bdi>
              </label>
              <span className="tabular-nums">{format(item.row[measure])}</span>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
