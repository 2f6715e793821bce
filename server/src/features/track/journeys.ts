import type { Ctx } from '../../platform/context.ts'
import { clickKeys, readClickId } from '../click-ids/service.ts'
import type { Customer } from '../customers/service.ts'
import { hasCustomer, type LocatedClick, type StoredClick, wholeClicks } from '../event-storage/service.ts'
import { existsPersonalData, type JourneyClickRow, selectClickIds, selectJourneyClicks } from './journeys-store.ts'

/** A click of a customer; `linkNumber` is null when neither the click id nor an event tells it. */
export type JourneyClick = { id: string; at: number; linkNumber: bigint | null; facts: StoredClick }
type Engines = Pick<Ctx, 'db' | 'clickhouse' | 'config' | 'workspaceId'>
type Person = Pick<Customer, 'id' | 'click_id'>

const mostJourneyClicks = 1_000
const clicksAtOnce = 500
const hourMs = 3_600_000

/** The clicks of a customer, oldest first: from PostgreSQL, where it has a copy, else from ClickHouse. */
export async function readJourneyClicks(ctx: Engines, person: Person): Promise<JourneyClick[]> {
  const rows = await selectJourneyClicks(ctx.db, ctx.workspaceId, person.id, mostJourneyClicks)
  const events = new Map<string, JourneyClickRow | undefined>(rows.map((row) => [row.click_id, row]))
  if (person.click_id && !events.has(person.click_id)) events.set(person.click_id, undefined)
  const missing = [...events].flatMap(([id, row]) => (row?.click_facts ? [] : id))
  const stored = new Map((await wholeClicks(ctx, locateClicks(ctx, missing))).map((click) => [click.id_text, click]))
  const clicks = [...events].flatMap(([id, row]): JourneyClick[] => {
    const facts = row?.click_facts ? (JSON.parse(row.click_facts) as StoredClick) : stored.get(id)
    if (!facts) return []
    const linkNumber = readClickId(clickKeys(ctx.config), id)?.linkNumber ?? row?.link_number ?? null
    return [{ id, at: Number(facts.at), linkNumber, facts }]
  })
  return clicks.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
}

/** The ids of customers' clicks, some hundred at a time, with the hours in which to look for them. */
export async function* locateCustomerClicks(
  ctx: Pick<Ctx, 'db' | 'config' | 'workspaceId'>,
  persons: Person[],
): AsyncGenerator<LocatedClick[]> {
  const customerIds = persons.map(({ id }) => id)
  const first = [...new Set(persons.flatMap(({ click_id }) => click_id ?? []))]
  if (first.length > 0) yield locateClicks(ctx, first)
  for (let after = ''; ; ) {
    const ids = await selectClickIds(ctx.db, ctx.workspaceId, customerIds, { after, count: clicksAtOnce })
    const others = ids.filter((id) => !first.includes(id))
    if (others.length > 0) yield locateClicks(ctx, others)
    const last = ids.at(-1)
    if (last === undefined || ids.length < clicksAtOnce) return
    after = last
  }
}

/** Whether metadata, click facts or addresses of a customer are left in PostgreSQL or ClickHouse. */
export async function isDataLeft(ctx: Engines, person: Person): Promise<boolean> {
  if (await existsPersonalData(ctx.db, ctx.workspaceId, person.id)) return true
  if (await hasCustomer(ctx, person.id, [])) return true
  for await (const clicks of locateCustomerClicks(ctx, [person]))
    if (await hasCustomer(ctx, person.id, clicks)) return true
  return false
}

function locateClicks({ config }: Pick<Ctx, 'config'>, ids: string[]): LocatedClick[] {
  return ids.map((id) => {
    const hour = readClickId(clickKeys(config), id)?.hour
    return { id, at: hour === undefined ? null : hour * hourMs }
  })
}
