import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { buildConversionLink } from '../../../test/build.ts'
import { createDatabases, openOwnDatabase } from '../../../test/own-database.ts'
import type { RawClick } from '../redirect/messages.ts'
import { closeSome, lastClosedDay } from './click-days.ts'
import { type ClickDaysClosed, clickDaysClosed } from './messages.ts'
import { claim, ingest } from './service.ts'

// Publishing daily click counts affects all workspaces, so these tests need their own databases.
const platform = await openOwnDatabase(await createDatabases())
const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
let sequence = 0
await claim(platform, holder)

vi.useFakeTimers({ toFake: ['Date'] })
afterEach(() => void vi.setSystemTime(new Date(midday)))
afterAll(() => void vi.useRealTimers())
const dayMs = 86_400_000
const midday = Date.parse('2026-05-10T12:00:00Z')
/** Today plus some days, at a UTC hour. */
const at = (days: number, hours = 12) => new Date(midday + days * dayMs + (hours - 12) * 3_600_000)
const dayAt = (days: number) => at(days).toISOString().slice(0, 10)

async function close(now: Date): Promise<void> {
  while (await closeSome({ ...platform, now: () => now }));
}

/** The process's clock sets `stored_at` of click rows. */
async function arrive(when: Date, ...clicks: RawClick[]): Promise<void> {
  vi.setSystemTime(when)
  sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body: clicks }])
}

async function takeDays(workspaceId: string): Promise<Pick<ClickDaysClosed['days'][0], 'day' | 'clicks' | 'isLate'>[]> {
  const taken = await sql<{ body: unknown }>`DELETE FROM outbox
    WHERE workspace_id = ${workspaceId} AND subject LIKE 'changes.%.click-days' RETURNING body`.execute(platform.db)
  const days = taken.rows.flatMap(({ body }) => clickDaysClosed.parse(body).days)
  expect(new Set(days.map(({ id }) => id)).size).toBe(days.length)
  return days
    .map(({ day, clicks, isLate }) => ({ day, clicks, isLate }))
    .sort((one, other) => (one.day < other.day ? -1 : 1))
}

test('the click counts of a day are closed six hours after midnight UTC', () => {
  expect(lastClosedDay(new Date('2026-03-02T05:59:59Z'))).toBe('2026-02-28')
  expect(lastClosedDay(new Date('2026-03-02T06:00:00Z'))).toBe('2026-03-01')
})

test("each click is in exactly one daily count: its day's first one, or a late one", async () => {
  const { workspace, click } = await buildConversionLink(platform)
  const visit = (given: Partial<RawClick> = {}) => click({ at: at(0).getTime(), ...given })
  await close(at(0))
  await arrive(at(0), visit(), visit(), visit({ userAgent: 'Googlebot/2.1' }))
  await close(at(0, 18))
  expect(await takeDays(workspace.id)).toEqual([])
  await close(at(1))
  expect(await takeDays(workspace.id)).toEqual([{ day: dayAt(0), clicks: 2, isLate: false }])
  await arrive(at(1, 15), visit(), visit({ at: at(1).getTime() }))
  await close(at(1, 17))
  expect(await takeDays(workspace.id)).toEqual([{ day: dayAt(0), clicks: 1, isLate: true }])
  await close(at(2))
  expect(await takeDays(workspace.id)).toEqual([{ day: dayAt(1), clicks: 1, isLate: false }])
  await close(at(3))
  expect(await takeDays(workspace.id)).toEqual([])
})

test("two workers publish a day's click counts once", async () => {
  const { workspace, click } = await buildConversionLink(platform)
  await close(at(4))
  await arrive(at(4), click({ at: at(4).getTime() }))
  await Promise.all([close(at(5)), close(at(5)), close(at(5))])
  expect(await takeDays(workspace.id)).toEqual([{ day: dayAt(4), clicks: 1, isLate: false }])
})

test("the clicks on a partner's link are also counted by country, late ones too", async () => {
  const { workspace, link, click } = await buildConversionLink(platform)
  await sql`UPDATE links SET partner_id = 'pn_1' WHERE id = ${link.id}`.execute(platform.db)
  await close(at(6))
  await arrive(at(6), click({ at: at(6).getTime() }), click({ at: at(6).getTime() }))
  await close(at(7))
  await arrive(at(7, 15), click({ at: at(6).getTime() }))
  await close(at(7, 17))
  const taken = await sql<{ body: unknown }>`DELETE FROM outbox
    WHERE workspace_id = ${workspace.id} AND subject LIKE 'changes.%.click-days' RETURNING body`.execute(platform.db)
  const days = taken.rows.flatMap(({ body }) => clickDaysClosed.parse(body).days)
  expect(days.map(({ clicks, countries }) => ({ clicks, countries }))).toEqual([
    { clicks: 2, countries: { '': 2 } },
    { clicks: 1, countries: { '': 1 } },
  ])
})
