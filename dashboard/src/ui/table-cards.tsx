import { RowCheckbox } from './row-checkbox.tsx'
import { Skeleton } from './skeleton.tsx'
import type { ShownRow, TableProps } from './table-types.ts'

type Props<Row> = TableProps<Row> & { shown: readonly ShownRow<Row>[] }

/** The rows of a small screen. */
export function TableCards<Row>(props: Props<Row>) {
  const { label, shown, count, card, cardHeight, rowId, rowLabel, selection } = props
  return (
    <ul aria-label={label} className="relative" style={{ height: count * cardHeight }}>
      {shown.map(({ key, index, row }) => (
        <li
          key={key}
          {...(row !== undefined && { 'data-row': rowId(row), 'data-index': index })}
          aria-posinset={index + 1}
          aria-setsize={count}
          style={{ top: index * cardHeight, height: cardHeight }}
          className={`absolute inset-x-0 flex items-start gap-1 border-b contain-strict ${row !== undefined && selection?.has(rowId(row)) ? 'bg-accent-soft' : ''}`}
        >
          {row !== undefined && selection && (
            <span className="grid size-11 shrink-0 place-items-center">
              <RowCheckbox
                label={rowLabel(row)}
                isSelected={selection.has(rowId(row))}
                onToggle={(isRange) => selection.toggle(rowId(row), isRange)}
              />
            </span>
          )}
          <div className={`min-w-0 flex-1 py-2.5 pr-3 ${selection && row !== undefined ? '' : 'pl-3'}`}>
            {row === undefined ? <Skeleton isStatic className="mt-2 w-3/5" /> : card(row)}
          </div>
        </li>
      ))}
    </ul>
  )
}
