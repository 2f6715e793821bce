import { Trans, useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { Money, useLocale } from '../../ui/figures.tsx'
import { formatClock, formatExactTime } from '../../ui/format.ts'
import type { Column } from '../../ui/table-types.ts'
import { type CellText, useCellText } from './cell-text.ts'
import { columnNames } from './column-names.ts'
import { type ColumnName, columnFilters, filterValue } from './columns.ts'
import type { FeedEvent } from './feed.ts'

/** A cell whose menu is open, and the button that opened it. */
export type OpenCell = { name: ColumnName; event: FeedEvent; button: HTMLElement }

type Shown = {
  names: readonly ColumnName[]
  /** Whether small windows leave out the columns of lesser weight. */
  isDefault: boolean
  timeZone: string
  onOpen(event: FeedEvent): void
  onCell(cell: OpenCell): void
}

const widths: Partial<Record<ColumnName, number>> = {
  ...{ name: 136, customer: 168, amount: 108, invoice: 120, processor: 152, destination: 240 },
  ...{ country: 124, region: 88, city: 120, continent: 120, device: 88, browser: 112, os: 104 },
  ...{ source: 136, page: 200, trigger: 88, ip: 136 },
}
const otherWidth = 128
const lesser: readonly ColumnName[] = ['city', 'browser', 'trigger', 'device']

/** The columns of the list: the time, and those chosen. */
export function useEventColumns({ names, isDefault, timeZone, onOpen, onCell }: Shown): Column<FeedEvent>[] {
  const { t } = useLingui()
  const text = useCellText()
  return useMemo(() => {
    const chosen = names.map((name): Column<FeedEvent> => {
      const width = name === 'link' ? undefined : (widths[name] ?? otherWidth)
      const column = { id: name, name: t(columnNames[name]), width, isWide: isDefault && lesser.includes(name) }
      if (name === 'amount') return { ...column, isNumber: true, cell: (event) => <Amount event={event} /> }
      return { ...column, cell: (event) => <Cell {...{ name, event, text, onCell }} /> }
    })
    const time: Column<FeedEvent> = {
      id: 'time',
      name: <Trans>Time</Trans>,
      width: 152,
      cell: (event) => <EventTime event={event} timeZone={timeZone} onOpen={onOpen} />,
    }
    return [time, ...chosen]
  }, [names, isDefault, timeZone, onOpen, onCell, text, t])
}

type TimeProps = { event: FeedEvent; timeZone: string; onOpen(event: FeedEvent): void }

/** The time of an event, exact on hover; it opens the event. */
export function EventTime({ event, timeZone, onOpen }: TimeProps) {
  const locale = useLocale()
  return (
    <button
      type="button"
      data-row-link
      onClick={() => onOpen(event)}
      className="block max-w-full truncate rounded-sm text-left font-medium hover:underline"
    >
      <time dateTime={event.timestamp} title={formatExactTime(event.timestamp, locale, timeZone)}>
        {formatClock(event.timestamp, locale, timeZone)}
      </time>
    </button>
  )
}

export function Amount({ event }: { event: FeedEvent }) {
  if (event.event !== 'sale') return null
  const { amount, currency } = event.sale
  return (
    <span className={amount < 0 ? 'text-harm' : ''}>{currency && <Money amount={amount} currency={currency} />}</span>
  )
}

type CellProps = { name: ColumnName; event: FeedEvent; text: CellText; onCell(cell: OpenCell): void }

/** A value; with a filter or a page behind it, a button that opens its menu. */
function Cell({ name, event, text, onCell }: CellProps) {
  const shown = text(name, event)
  if (shown === '') return null
  const isButton = name === 'customer' || (columnFilters[name] !== undefined && filterValue(name, event) !== '')
  if (!isButton) {
    return (
      <bdi className="block truncate text-muted" title={shown}>
        {shown}
      </bdi>
    )
  }
  return (
    <button
      type="button"
      aria-haspopup="menu"
      title={shown}
      onClick={({ currentTarget }) => onCell({ name, event, button: currentTarget })}
      className="block max-w-full truncate rounded-sm text-left hover:underline"
    >
      <bdi>{shown}</bdi>
    </button>
  )
}
