import type { Link } from '@tributary/contract/links'
import type { Trigger } from '@tributary/contract/webhooks'
import { asSystem, type Ctx, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { customersById } from '../customers/service.ts'
import { conversionsById, findLostLinks } from '../events/service.ts'
import type { ClicksStored } from '../ingest/messages.ts'
import type { LinkEvents } from '../links/messages.ts'
import { linksByNumber } from '../links/service.ts'
import type { ConversionsStored } from '../track/messages.ts'
import { isInScope } from './delivery/scope.ts'
import { type Told, toldOfClick, toldOfLead, toldOfLink, toldOfSale } from './events.ts'
import { hasRoom } from './storage.ts'
import { eraseEvents, insertDeliveries, insertEvents, type ListenerRow, selectListeners } from './store.ts'

const atOnce = 100

/*
 * From messages to deliveries that are due. Each event has the same id whenever its message comes, and what is there
 * stays: a repeat does nothing.
 */

export async function tellLinks(platform: Platform, told: LinkEvents[]): Promise<void> {
  for (const [workspaceId, messages] of Map.groupBy(told, (message) => message.workspaceId)) {
    const ctx = asSystem(platform, workspaceId)
    for (const events of partsOf(messages.flatMap((message) => message.events))) {
      if (!(await isAnyListening(ctx, new Set(events.map(({ event }) => event))))) continue
      const large = events.filter(({ link }) => !link).map(({ linkNumber }) => BigInt(linkNumber))
      const read = large.length > 0 ? await linksByNumber(ctx, large) : new Map<bigint, Link>()
      const known = events.flatMap((event) => {
        const link = event.link ?? read.get(BigInt(event.linkNumber))
        return link ? [toldOfLink(event, link)] : []
      })
      await enqueue(ctx, async () => known)
    }
  }
}

export async function tellClicks(platform: Platform, stored: ClicksStored[]): Promise<void> {
  for (const [workspaceId, messages] of Map.groupBy(stored, (message) => message.workspaceId)) {
    const ctx = asSystem(platform, workspaceId)
    if (!(await isAnyListening(ctx, ['link.clicked']))) continue
    for (const clicks of partsOf(messages.flatMap((message) => message.clicks))) {
      const linkOf = await linksOf(ctx, clicks)
      await enqueue(ctx, async () => clicks.map((click) => toldOfClick(click, linkOf(click))))
    }
  }
}

export async function tellConversions(platform: Platform, stored: ConversionsStored[]): Promise<void> {
  for (const message of stored) {
    const ctx = asSystem(platform, message.workspaceId)
    const event = { lead: 'lead.created', sale: 'sale.created', refund: 'sale.refunded' } as const
    if (!(await isAnyListening(ctx, [event[message.kind]]))) continue
    for (const conversions of partsOf(message.conversions)) {
      if (message.kind === 'lead') {
        await tellRows(ctx, conversions, await conversionsById(ctx, 'leads', conversions), toldOfLead)
      } else {
        const name = event[message.kind]
        const rows = await conversionsById(ctx, 'sales', conversions)
        await tellRows(ctx, conversions, rows, (row, link, customer) => toldOfSale(row, name, link, customer))
      }
    }
  }
}

/** What was told of these customers is emptied, and what is still to be sent of it is not. */
export async function eraseTold(platform: Pick<Platform, 'db'>, erased: CustomerErased[]): Promise<void> {
  for (const [workspaceId, customers] of Map.groupBy(erased, (customer) => customer.workspaceId)) {
    const ids = customers.map(({ customerId }) => customerId)
    await transaction(platform, ({ db }) => eraseEvents(db, workspaceId, ids))
  }
}

type Person = Parameters<typeof toldOfLead>[2]
type ConversionRow = { id: string; link_number: string; customer_id: string; url: string }

/** The customers are held until the events are there: who is erased after that is erased from them too. */
async function tellRows<Row extends ConversionRow>(
  ctx: Ctx,
  named: { id: string }[],
  found: Row[],
  toldOf: (row: Row, link: Link, customer: Person) => Told,
): Promise<void> {
  // After a fault of ClickHouse a row may be there twice.
  const rows = [...new Map(found.map((row) => [row.id, row])).values()]
  const missing = named.length - rows.length
  if (missing > 0) throw new Error(`${missing} of ${named.length} conversions are not stored yet`)
  const linkOf = await linksOf(ctx, rows)
  await enqueue(ctx, async (ctx) => {
    const ids = rows.map(({ customer_id }) => customer_id)
    const customers = await customersById(ctx, ids)
    return rows.map((row) => toldOf(row, linkOf(row), customers.get(row.customer_id)))
  })
}

async function isAnyListening(ctx: Ctx, events: Iterable<Trigger>): Promise<boolean> {
  return (await selectListeners(ctx.db, ctx.workspaceId, [...events])).length > 0
}

async function enqueue(ctx: Ctx, make: (ctx: Ctx) => Promise<Told[]>): Promise<void> {
  await transaction(ctx, async (ctx) => {
    const told = (await make(ctx)).sort(byTime)
    const names = new Set(told.map(({ event }) => event.event))
    const listeners = await selectListeners(ctx.db, ctx.workspaceId, [...names])
    const heard = told.map((one) => ({ ...one, by: listeners.filter((listener) => hears(listener, one)) }))
    const events = heard.flatMap(({ event, customerId, by }) =>
      by.length === 0
        ? []
        : [{ ...event, customerId, body: JSON.stringify(event), webhookIds: by.map(({ id }) => id) }],
    )
    if (events.length === 0) return
    const bodies = events.map(({ body }) => body)
    if (!(await hasRoom(ctx, bodies))) return
    await insertEvents(ctx.db, ctx.workspaceId, events)
    await insertDeliveries(ctx.db, ctx.workspaceId, events, ctx.now())
  })
}

function hears(listener: ListenerRow, { event, link }: Told): boolean {
  return listener.triggers.includes(event.event) && isInScope(listener, link)
}

/** In one order everywhere, so that two workers that tell the same never wait for each other. */
function byTime({ event: a }: Told, { event: b }: Told): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : 1
}

async function linksOf(ctx: Ctx, rows: { link_number: string; url: string }[]) {
  const links = await linksByNumber(
    ctx,
    rows.map((row) => BigInt(row.link_number)),
  )
  const known = new Map([...links].map(([number, link]) => [String(number), link]))
  const lostLink = await findLostLinks(ctx, rows, known)
  return (row: { link_number: string; url: string }): Link => known.get(row.link_number) ?? lostLink(row)
}

function* partsOf<T>(items: T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += atOnce) yield items.slice(start, start + atOnce)
}
