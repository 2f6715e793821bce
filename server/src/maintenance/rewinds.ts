import { customersById } from '../features/customers/service.ts'
import { attributesBetween, conversionsStoredSince } from '../features/event-storage/service.ts'
import { announceAgain } from '../features/links/service.ts'
import { storeLaterPartners } from '../features/partner-attributes/service.ts'
import { knownConversions } from '../features/track/service.ts'
import { asSystem, type Platform } from '../platform/context.ts'
import { type Rewind, saveLost, selectRewinds } from '../platform/incarnation.ts'

/** The number of records that ClickHouse has and PostgreSQL lacks. */
export type Lost = { links: number; leads: number; sales: number; customers: number }

const lostAtOnce = 5_000
const finishAfterMs = 10_000
// PostgreSQL writes a sequence 32 numbers ahead to its WAL, so a crash skips up to 32 numbers.
const loggedAhead = 64n
// Start comparing this long before the restored state, because server clocks may differ.
const overlapMs = 60_000

/** Handles restores of PostgreSQL to an earlier state: counts lost records once, and publishes existing links again. */
export async function finishRewinds(platform: Platform): Promise<void> {
  for (const rewind of await selectRewinds(platform.db)) {
    if (rewind.engine !== 'postgresql') continue
    if (rewind.lost === null) await finishRewind(platform, rewind)
    else for (const [kind, count] of Object.entries(rewind.lost)) platform.metrics.lostRecords.set({ kind }, count)
  }
}

async function finishRewind(platform: Platform, rewind: Rewind): Promise<void> {
  if (platform.now().getTime() - rewind.found_at.getTime() < finishAfterMs) return
  const lost = await countLost(platform, rewind)
  await rewritePartners(platform, rewind)
  await saveLost(platform.db, rewind, lost)
  if (Object.values(lost).every((count) => count === 0)) return
  platform.log.error(
    { since: rewind.since, until: rewind.until, ...lost },
    'PostgreSQL lost records that ClickHouse has: `tributary verify` lists them',
  )
}

/** Counts records that PostgreSQL lost. Gives links that it still has a newer version than ClickHouse has. */
async function countLost(platform: Platform, rewind: Rewind): Promise<Lost> {
  const { leads, sales, customers } = await countConversions(platform, rewind)
  return { links: await countLinks(platform, rewind), leads, sales, customers }
}

async function countLinks(platform: Platform, { sequences }: Rewind): Promise<number> {
  const [before, moved] = sequences.link_versions ?? ['0', '0']
  let lost = 0
  for (let after = '0'; ; ) {
    const links = await attributesBetween(platform, [BigInt(before) - loggedAhead, BigInt(moved)], {
      after,
      count: lostAtOnce,
    })
    for (const [workspaceId, mine] of Map.groupBy(links, ({ workspace_id }) => workspace_id)) {
      const numbers = mine.map(({ number }) => BigInt(number))
      const there = new Set(await announceAgain(asSystem(platform, workspaceId), numbers))
      lost += mine.filter(({ number, is_deleted }) => !is_deleted && !there.has(BigInt(number))).length
    }
    if (links.length < lostAtOnce) return lost
    after = links.at(-1)?.number ?? after
  }
}

/** Lets workers write partners again whose groups and tags in ClickHouse are newer than PostgreSQL's. */
async function rewritePartners(platform: Platform, { sequences }: Rewind): Promise<void> {
  const [before] = sequences.partner_attribute_versions ?? []
  if (before === undefined) return
  const version = BigInt(before) - loggedAhead
  await storeLaterPartners(platform, version < 0n ? 0n : version)
}

async function countConversions(platform: Platform, { since }: Rewind): Promise<Omit<Lost, 'links'>> {
  const lost = { leads: 0, sales: 0 }
  const customers = new Set<string>()
  for (let after = ''; ; ) {
    const stored = await conversionsStoredSince(platform, new Date(since.getTime() - overlapMs), {
      after,
      count: lostAtOnce,
    })
    for (const [workspaceId, mine] of Map.groupBy(stored, ({ workspace_id }) => workspace_id)) {
      const there = await knownConversions(
        { db: platform.db, workspaceId },
        mine.map(({ id }) => wholeId(id)),
      )
      const missing = mine.filter(({ id }) => !there.has(wholeId(id)))
      for (const { kind } of missing) lost[kind === 'lead' ? 'leads' : 'sales'] += 1
      const people = missing.map(({ customer_id }) => customer_id)
      const known = await customersById(asSystem(platform, workspaceId), people)
      for (const id of people) if (!known.has(id)) customers.add(id)
    }
    if (stored.length < lostAtOnce) return { ...lost, customers: customers.size }
    after = stored.at(-1)?.id ?? after
  }
}

/** The lead's id from a ClickHouse row id: a lead with quantity n has n rows, whose ids end in a number. */
function wholeId(id: string): string {
  return id.replace(/^([^_]+_[^_]+)_\d+$/, '$1')
}
