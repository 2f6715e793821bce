import { retrieveVisitorsNow as operation } from '@tributary/contract/analytics'
import { createClient } from '@tributary/contract/client'
import { describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { linkNumbers } from '../links/service.ts'
import { retrieveAnalytics, retrieveVisitorsNow } from './service.ts'

const platform = await openTestPlatform()
const fiveMinutesMs = 300_000
const now = Date.now()
let visitor = 0

/** A workspace with links `one` and `two`, of which `two` is in a folder. */
async function setUp() {
  const workspace = await buildWorkspace(platform)
  const ctx = { ...contextIn(platform, workspace.id), now: () => new Date(now) }
  const folder = await createFolder(ctx, { name: 'Spring', accessLevel: null })
  const one = await buildLink(platform, workspace, { key: 'one' })
  const two = await buildLink(platform, workspace, { key: 'two', folderId: folder.id })
  const click = async (given: object, link = one) => {
    const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
    const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
    return clickRow(owner, { timestamp: now - 1_000, ip: `192.0.2.${visitor++}`, ...given })
  }
  const store = async (...clicks: Awaited<ReturnType<typeof click>>[]) => storeEvents(platform, { clicks })
  return { workspace, ctx, folder, one, two, click, store }
}

test('visitors of exactly five minutes count, those a millisecond older do not', async () => {
  const { ctx, click, store } = await setUp()
  await store(
    await click({ timestamp: now - fiveMinutesMs }),
    await click({ timestamp: now - fiveMinutesMs - 1 }),
    await click({ timestamp: now }),
    await click({ timestamp: now + 1 }),
  )
  expect(await retrieveVisitorsNow(ctx, {})).toEqual({ visitors: 2, countedAt: new Date(now).toISOString() })
})

test('a visitor of two links counts once, another browser of the same address is another visitor, bots are none', async () => {
  const { ctx, two, click, store } = await setUp()
  const person = { ip: '198.51.100.7', device: 'Desktop', browser: 'Firefox', os: 'Linux' }
  await store(
    await click(person),
    await click({ ...person, timestamp: now - 200_000 }),
    await click(person, two),
    await click({ ...person, browser: 'Chrome' }),
    await click({ bot: 'user-agent' }),
  )
  expect(await retrieveVisitorsNow(ctx, {})).toMatchObject({ visitors: 2 })
  const start = new Date(now - fiveMinutesMs).toISOString()
  const query = { event: 'clicks', groupBy: 'count', bots: 'exclude', visitors: true, timezone: 'UTC', start } as const
  expect(await retrieveAnalytics(ctx, query)).toMatchObject({ clicks: 4, visitors: 2 })
})

test('filters by link, folder and domain, and hides folders that the caller may not read', async () => {
  const { ctx, workspace, folder, one, two, click, store } = await setUp()
  await store(await click({}), await click({}, two), await click({}, two))
  const count = async (filter: object, caller = ctx) => (await retrieveVisitorsNow(caller, filter)).visitors
  expect(await count({ linkId: one.id })).toBe(1)
  expect(await count({ linkId: `-${one.id}` })).toBe(2)
  // Workers tell ClickHouse about new links a moment later.
  await eventually(async () => expect(await count({ folderId: folder.id })).toBe(2))
  expect(await count({ domain: workspace.domain })).toBe(3)
  expect(await count({ domain: 'other.example.com' })).toBe(0)
  expect(await count({ tagId: 'tag_unknown' })).toBe(0)
  const restricted = { ...ctx, folderAccess: { hidden: [folder.id], readOnly: [] } as never }
  expect(await count({}, restricted)).toBe(1)
  expect(await count({})).toBe(3)
})

test('many callers share one query for two seconds', async () => {
  const { ctx, click, store } = await setUp()
  await store(await click({}))
  const counts = await Promise.all(Array.from({ length: 20 }, () => retrieveVisitorsNow(ctx, {})))
  await store(await click({}))
  expect(new Set([...counts, await retrieveVisitorsNow(ctx, {})]).size).toBe(1)
  await expect
    .poll(async () => (await retrieveVisitorsNow(ctx, {})).visitors, { timeout: 20_000, interval: 200 })
    .toBe(2)
})

describe('retrieveVisitorsNow', () => {
  test('200 with the count', async () => {
    const { workspace, click, store } = await setUp()
    await store(await click({ timestamp: Date.now() - 1_000 }))
    const call = createClient({ url: inject('server').api, token: workspace.key })
    const { visitors, countedAt } = await call(operation, {})
    expect(visitors).toBe(1)
    expect(Date.parse(countedAt)).toBeGreaterThan(now)
  })

  test('422 for more values than a filter takes', async () => {
    const { workspace } = await setUp()
    const call = createClient({ url: inject('server').api, token: workspace.key })
    const linkId = Array.from({ length: 1_001 }, (_, index) => `l${index}`).join()
    await expect(call(operation, { query: { linkId } })).rejects.toMatchObject({ status: 422 })
  })
})
