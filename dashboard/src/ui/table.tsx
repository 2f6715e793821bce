import { useLingui } from '@lingui/react/macro'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { memo, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { Checkbox } from './checkbox.tsx'
import { Skeleton } from './skeleton.tsx'
import { useSmallScreen } from './small-screen.ts'

export type Column<Row> = {
  id: string
  name: ReactNode
  cell(row: Row): ReactNode
  /** Width in pixels; columns without one share the rest. */
  width?: number
  isNumber?: boolean
  /** Whether only wide screens show it. */
  isWide?: boolean
  /** The name that `sort` has when this column sorts. */
  sort?: string
}
export type Sort = { by: string; isAscending: boolean }
export type Selection = {
  has(id: string): boolean
  toggle(id: string, isRange: boolean): void
  toggleAll(): void
  state: boolean | 'indeterminate'
}

type Props<Row> = {
  label: string
  columns: readonly Column<Row>[]
  /** How many rows there are, also those that are not loaded. */
  count: number
  /** The row at a position; undefined while it is not loaded. */
  row(index: number): Row | undefined
  rowId(row: Row): string
  rowLabel(row: Row): string
  rowHeight: number
  /** What a small screen shows instead of a row. */
  card(row: Row): ReactNode
  cardHeight: number
  sort?: Sort
  onSort?(by: string): void
  selection?: Selection
  onOpen(row: Row): void
  /** Called with the positions of the first and the last row in the page. */
  onRange?(first: number, last: number): void
  isDimmed?: boolean
}

/** A list of any length: a table on wide screens, cards on small ones. Only visible rows are in the page. */
export function Table<Row>(props: Props<Row>) {
  const { count, rowHeight, cardHeight, onRange } = props
  const isSmall = useSmallScreen()
  const body = useRef<HTMLDivElement>(null)
  const { top, width } = useBox(body)
  const height = isSmall ? cardHeight : rowHeight
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: 6,
    scrollMargin: top,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the virtualizer caches sizes by itself
  useEffect(() => virtualizer.measure(), [height])
  const items = virtualizer.getVirtualItems()
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0]
  useEffect(() => onRange?.(first, last), [first, last, onRange])
  const space = {
    before: (items[0]?.start ?? top) - top,
    after: virtualizer.getTotalSize() - ((items.at(-1)?.end ?? top) - top),
  }
  const shown = listShown(items, props)
  const View = isSmall ? Cards : WideTable
  return (
    <div ref={body} className={`transition-opacity ${props.isDimmed ? 'opacity-60' : ''}`} aria-busy={props.isDimmed}>
      <View {...props} shown={shown} space={space} width={width} />
    </div>
  )
}

type Shown<Row> = { key: string; index: number; row: Row | undefined }

/** The visible rows. A row keeps its key while others come before it, so that an open menu stays with its row. */
function listShown<Row>(items: readonly { index: number }[], { row, rowId }: Props<Row>): Shown<Row>[] {
  const keys = new Set<string>()
  return items.map(({ index }) => {
    const found = row(index)
    const id = found === undefined ? '' : rowId(found)
    const key = id === '' || keys.has(id) ? String(index) : id
    keys.add(key)
    return { key, index, row: found }
  })
}

type ViewProps<Row> = Props<Row> & {
  shown: readonly Shown<Row>[]
  space: { before: number; after: number }
  /** The width that is there. */
  width: number
}

const leastFlexible = 240

function WideTable<Row>(props: ViewProps<Row>) {
  const { label, columns, count, shown, space, selection, sort, onSort, rowHeight, rowId, rowLabel, onOpen, width } =
    props
  const { t } = useLingui()
  const leastWidth = columns.reduce((sum, column) => sum + (column.isWide ? 0 : (column.width ?? leastFlexible)), 44)
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
        className="w-full table-fixed text-sm"
        style={isScrolled ? { minWidth: leastWidth } : undefined}
      >
        <colgroup>
          {selection && <col className="w-11" />}
          {columns.map(({ id, width, isWide }) => (
            <col key={id} style={{ width }} className={isWide ? 'max-[1340px]:hidden' : ''} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {selection && (
              <th scope="col" className="sticky top-0 z-10 h-9 rounded-tl-lg border-b bg-surface pl-3.5">
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
        <tbody>
          <Space height={space.before} />
          {shown.map(({ key, index, row }) =>
            row === undefined ? (
              <LoadingRow key={key} {...{ index, columns, rowHeight }} isSelectable={selection !== undefined} />
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
          <Space height={space.after} />
        </tbody>
      </table>
    </div>
  )
}

/** Takes the place of rows that are not in the page. Its one cell must not span columns that a small window hides: they would take room. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden>
      <td style={{ height }} />
    </tr>
  )
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
      className={`sticky top-0 z-10 h-9 border-b bg-surface px-3 font-normal text-muted last:rounded-tr-lg ${isNumber ? 'text-right' : 'text-left'} ${isWide ? 'max-[1340px]:hidden' : ''}`}
    >
      {sort === undefined ? (
        name
      ) : (
        <button
          type="button"
          onClick={() => onSort?.(sort)}
          className={`group inline-flex items-center gap-1 rounded-sm align-middle hover:text-ink ${isSorted ? 'font-medium text-ink' : ''} ${isNumber ? 'flex-row-reverse' : ''}`}
        >
          {name}
          <Arrow
            size={12}
            aria-hidden
            className={isSorted ? '' : 'opacity-0 group-hover:opacity-60 group-focus-visible:opacity-60'}
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
      className="group/row cursor-pointer border-b last:border-b-0 hover:bg-hover has-[[data-row-link]:focus-visible]:bg-hover aria-selected:bg-accent-soft"
    >
      {isSelected !== undefined && (
        <td style={{ height: rowHeight }} className="pl-3.5">
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
          style={{ height: rowHeight }}
          className={`px-3 ${column.isNumber ? 'text-right' : ''} ${column.isWide ? 'max-[1340px]:hidden' : ''}`}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}

type LoadingProps = { index: number; columns: readonly Column<never>[]; rowHeight: number; isSelectable: boolean }

/** A row whose data is not loaded. */
function LoadingRow({ index, columns, rowHeight, isSelectable }: LoadingProps) {
  return (
    <tr aria-rowindex={index + 2} className="border-b last:border-b-0">
      {isSelectable && <td style={{ height: rowHeight }} />}
      {columns.map(({ id, isWide }) => (
        <td key={id} style={{ height: rowHeight }} className={`px-3 ${isWide ? 'max-[1340px]:hidden' : ''}`}>
          <Skeleton className="w-3/5" />
        </td>
      ))}
    </tr>
  )
}

function Cards<Row>(props: ViewProps<Row>) {
  const { label, shown, space, count, card, cardHeight, rowId, rowLabel, selection } = props
  return (
    <ul aria-label={label} style={{ paddingTop: space.before, paddingBottom: space.after }}>
      {shown.map(({ key, index, row }) => (
        <li
          key={key}
          {...(row !== undefined && { 'data-row': rowId(row), 'data-index': index })}
          aria-posinset={index + 1}
          aria-setsize={count}
          style={{ height: cardHeight }}
          className={`flex items-start gap-1 border-b last:border-b-0 ${row !== undefined && selection?.has(rowId(row)) ? 'bg-accent-soft' : ''}`}
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
            {row === undefined ? <Skeleton className="mt-2 w-3/5" /> : card(row)}
          </div>
        </li>
      ))}
    </ul>
  )
}

type CheckboxProps = { label: string; isSelected: boolean; onToggle(isRange: boolean): void }

function RowCheckbox({ label, isSelected, onToggle }: CheckboxProps) {
  const { t } = useLingui()
  return <Checkbox aria-label={t`Select ${label}`} checked={isSelected} onClick={(event) => onToggle(event.shiftKey)} />
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

/** Distance of an element from the top of the document, and its width. */
function useBox(element: { current: HTMLElement | null }): { top: number; width: number } {
  const [box, setBox] = useState({ top: 0, width: 0 })
  useLayoutEffect(() => {
    const measure = () => {
      const bounds = element.current?.getBoundingClientRect()
      if (!bounds) return
      const next = { top: Math.round(bounds.top + scrollY), width: Math.round(bounds.width) }
      setBox((before) => (before.top === next.top && before.width === next.width ? before : next))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [element])
  return box
}
