import { Trans, useLingui } from '@lingui/react/macro'
import { Link as RouteLink } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Detail, Details } from '../../ui/details.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatExactTime } from '../../ui/format.ts'
import { shortAddress } from '../links/texts.ts'
import { customerName, useCellText } from './cell-text.ts'
import { columnNames } from './column-names.ts'
import { type ColumnName, hasLink } from './columns.ts'
import { Amount } from './event-columns.tsx'
import type { FeedEvent } from './feed.ts'

const ofVisitor: readonly ColumnName[] = [
  'country',
  'region',
  'city',
  'device',
  'browser',
  'os',
  'source',
  'trigger',
  'ip',
]
const utm: readonly ColumnName[] = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content']

/** What the record says, in the order in which people ask. */
export function EventDetails({ event, timeZone }: { event: FeedEvent; timeZone: string }) {
  const { t } = useLingui()
  const locale = useLocale()
  const text = useCellText()
  const exact = (at: string) => <time dateTime={at}>{formatExactTime(at, locale, timeZone)}</time>
  const row = (name: ColumnName): Detail => [name, t(columnNames[name]), text(name, event)]
  const { click } = event
  const facts: Detail[] = [
    ['time', t`Time`, exact(event.timestamp)],
    ...(event.event === 'sale' ? [['amount', t`Amount`, <Amount key="amount" event={event} />] as Detail] : []),
    row('invoice'),
    row('processor'),
    ...(event.event === 'click'
      ? []
      : [['customer', t`Customer`, <CustomerLink key="customer" event={event} />] as Detail]),
    ['link', t`Link`, <LinkLink key="link" event={event} />],
    ['destination', t`Destination`, click.url],
    ...(event.event !== 'click' && click.id ? [['click', t`Time of the click`, exact(click.timestamp)] as Detail] : []),
  ]
  return (
    <>
      <Details rows={facts} />
      <Part
        title={<Trans>Visitor</Trans>}
        rows={[...ofVisitor.map(row), ['page', t`Source page`, pageText(click.refererUrl)]]}
      />
      <Part title={<Trans>UTM</Trans>} rows={utm.map(row)} />
      {event.event !== 'click' && <Part title={<Trans>Metadata</Trans>} rows={metadataRows(event.metadata)} />}
    </>
  )
}

function Part({ title, rows }: { title: ReactNode; rows: readonly Detail[] }) {
  if (!rows.some(([, , value]) => value)) return null
  return (
    <section>
      <h3 className="mb-1 text-sm font-medium">{title}</h3>
      <Details rows={rows} />
    </section>
  )
}

function pageText(refererUrl: string): string {
  return refererUrl === '(direct)' ? '' : refererUrl
}

const mostFields = 50
const mostShown = 1_000

function metadataRows(metadata: Record<string, unknown> | null): Detail[] {
  return Object.entries(metadata ?? {})
    .slice(0, mostFields)
    .map(([name, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value)
      return [
        name,
        <bdi key={name} className="wrap-anywhere">
          {name.slice(0, 100)}
        </bdi>,
        text.slice(0, mostShown),
      ]
    })
}

function LinkLink({ event }: { event: FeedEvent }) {
  const { link } = event
  if (link.id === 'link_none') return <Trans>None</Trans>
  if (!hasLink(event)) return <Trans>The link is lost</Trans>
  return (
    <RouteLink from="/$workspace" to="/$workspace/links/$id" params={{ id: link.id }} className="underline">
      <bdi>{shortAddress(link)}</bdi>
    </RouteLink>
  )
}

function CustomerLink({ event }: { event: Exclude<FeedEvent, { event: 'click' }> }) {
  return (
    <RouteLink from="/$workspace" to={`/$workspace/customers/${event.customer.id}` as string} className="underline">
      <bdi>{customerName(event.customer)}</bdi>
    </RouteLink>
  )
}
