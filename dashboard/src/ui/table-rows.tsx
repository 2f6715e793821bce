import { useLingui } from '@lingui/react/macro'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { type CSSProperties, memo, type RefObject, useLayoutEffect, useRef } from 'react'
import { Checkbox } from './checkbox.tsx'
import { RowCheckbox } from './row-checkbox.tsx'
import { Skeleton } from './skeleton.tsx'
import type { Column, ShownRow, Sort, TableProps } from './table-types.ts'

type Props<Row> = TableProps<Row> & {
  shown: readonly ShownRow<Row>[]
  /** The width that is there. */
  width: number
}

const leastFlexible = 240
const checkboxWidth = 44

/** The rows of a wide screen. Rows are grids: the table layout would place every row anew for each that comes. */
export function TableRows<Row>(props: Props<Row>) {
  const { label, columns, count, shown, selection, sort, onSort, rowHeight, rowId, rowLabel, onOpen, width } = props
  const { t } = useLingui()
  const leastWidth = columns.reduce(
    (sum, column) => sum + (column.isWide ? 0 : (column.width ?? leastFlexible)),
    checkboxWidth,
  )
  // A table that is too wide scrolls sideways within itself; its header then can't stay at the top of the window.
  const isScrolled = width > 0 && leastWidth > width
  const latest = useLatest({ selection, onOpen })
  return (
    <div
      className={isScrolled ? 'overflow-x-auto' : ''}
      {...(isScrolled && { tabIndex: 0, role: 'group', 'aria-label': label })}
    >
      <table
        aria-label={label}
        aria-rowcount={count + 1}
        className="block text-sm"
        style={{ minWidth: isScrolled ? leastWidth : undefined, ...columnTracks(columns, selection !== undefined) }}
      >
        <thead className="sticky top-0 z-10 block rounded-t-lg border-b bg-surface">
          <tr aria-rowindex={1} className={`h-9 ${rowTracks}`}>
            {selection && (
              <th scope="col" className="flex pl-3.5">
                <Checkbox
                  aria-label={t`Select all loaded rows`}
                  checked={selection.state}
                  onCheckedChange={selection.toggleAll}
                />
              </th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.id} {...column} sorted={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody className="relative block" style={{ height: count * rowHeight }}>
          {shown.map(({ key, index, row }) =>
            row === undefined ? (
              <LoadingRow key={key} index={index} rowHeight={rowHeight} />
            ) : (
              <TableRow
                key={key}
                {...{ index, row, columns, rowHeight, latest }}
                id={rowId(row)}
                label={rowLabel(row)}
                isSelected={selection?.has(rowId(row))}
              />
            ),
          )}
        </tbody>
      </table>
    </div>
  )
}

const rowTracks = 'grid items-center grid-cols-(--all-columns) max-[1340px]:grid-cols-(--main-columns)'
const rowPosition = `absolute inset-x-0 contain-[size_layout_style] border-b ${rowTracks}`

/** The widths of columns as tracks of a grid, for rows with all columns and for those of a narrower window. */
function columnTracks<Row>(columns: readonly Column<Row>[], hasCheckbox: boolean): CSSProperties {
  const tracks = (shown: readonly Column<Row>[]) => {
    const widths = shown.map(({ width }) => (width === undefined ? 'minmax(0, 1fr)' : `${width}px`))
    return [...(hasCheckbox ? [`${checkboxWidth}px`] : []), ...widths].join(' ')
  }
  const properties = {
    '--all-columns': tracks(columns),
    '--main-columns': tracks(columns.filter(({ isWide }) => !isWide)),
  }
  return properties as CSSProperties
}

type HeaderProps<Row> = Column<Row> & { sorted?: Sort; onSort?(by: string): void }

function HeaderCell<Row>({ name, isNumber, isWide, sort, sorted, onSort }: HeaderProps<Row>) {
  const isSorted = sort !== undefined && sorted?.by === sort
  const Arrow = sorted?.isAscending ? ArrowUp : ArrowDown
  const order = sorted?.isAscending ? 'ascending' : 'descending'
  return (
    <th
      scope="col"
      aria-sort={isSorted ? order : undefined}
      className={`flex min-w-0 items-center px-3 font-normal text-muted ${isNumber ? 'justify-end' : ''} ${isWide ? 'max-[1340px]:hidden' : ''}`}
    >
      {sort === undefined ? (
        name
      ) : (
        <button
          type="button"
          onClick={() => onSort?.(sort)}
          className={`group inline-flex items-center gap-1 rounded-sm hover:text-ink ${isSorted ? 'font-medium text-ink' : ''} ${isNumber ? 'flex-row-reverse' : ''}`}
        >
          {name}
          <Arrow
            size={12}
            aria-hidden
            className={isSorted ? '' : 'text-transparent group-hover:text-faint group-focus-visible:text-faint'}
          />
        </button>
      )}
    </th>
  )
}

type Handlers<Row> = Pick<Props<Row>, 'selection' | 'onOpen'>
type RowProps<Row> = Pick<Props<Row>, 'columns' | 'rowHeight'> & {
  row: Row
  index: number
  id: string
  label: string
  /** Undefined if rows can't be selected. */
  isSelected: boolean | undefined
  latest: RefObject<Handlers<Row>>
}

/** Drawn again only when it changes: scrolling draws the rows that come into view and no other. */
const TableRow = memo(PlainRow) as typeof PlainRow

function PlainRow<Row>({ row, index, id, label, columns, rowHeight, isSelected, latest }: RowProps<Row>) {
  return (
    <tr
      data-row={id}
      data-index={index}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      onClick={(event) => isPlainClick(event.nativeEvent) && latest.current.onOpen(row)}
      style={{ top: index * rowHeight, height: rowHeight }}
      className={`group/row cursor-pointer focus-within:bg-hover hover:bg-hover aria-selected:bg-accent-soft ${rowPosition}`}
    >
      {isSelected !== undefined && (
        <td className="flex pl-3.5">
          <RowCheckbox
            label={label}
            isSelected={isSelected}
            onToggle={(isRange) => latest.current.selection?.toggle(id, isRange)}
          />
        </td>
      )}
      {columns.map((column) => (
        <td
          key={column.id}
          className={`min-w-0 px-3 ${column.isNumber ? 'text-right' : ''} ${column.isWide ? 'max-[1340px]:hidden' : ''}`}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

/** A row whose data is not loaded. */
function LoadingRow({ index, rowHeight }: { index: number; rowHeight: number }) {
  return (
    <tr
      aria-rowindex={index + 2}
      style={{ top: index * rowHeight, height: rowHeight }}
      className="absolute inset-x-0 flex items-center border-b pl-14 contain-strict"
    >
      <td className="w-1/4">
        <Skeleton isStatic className="w-3/5" />
      </td>
    </tr>
  )
}

/** The newest value, for handlers that stay the same. */
function useLatest<T>(value: T): RefObject<T> {
  const latest = useRef(value)
  useLayoutEffect(() => {
    latest.current = value
  })
  return latest
}

/** Whether a click was meant for the row and not for a control in it, nor the end of marking text. */
function isPlainClick({ target }: MouseEvent): boolean {
  return (
    target instanceof Element && !target.closest('a, button, input, [role=menu]') && getSelection()?.type !== 'Range'
  )
}
