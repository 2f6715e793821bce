import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { query } from '../../platform/clickhouse.ts'
import type { Platform } from '../../platform/context.ts'
import type { RawClick } from '../redirect/messages.ts'
import { changeWorkspace, type IpStorage } from '../workspaces/service.ts'
import { claim, ingest } from './service.ts'

const shared = await openTestPlatform()
const unitedStates = { ip: '8.8.8.8', country: 'US' }

/** A platform with its own config object, so that no setting of an earlier test is cached. */
const fresh = (given: Partial<Platform> = {}) => ({ ...shared, config: { ...shared.config }, ...given })

async function someLink() {
  const workspace = await buildWorkspace(shared)
  const { id, url } = await buildLink(shared, workspace)
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(shared.db)
  return { number: result.rows[0]?.number ?? 0n, workspaceId: workspace.id, url }
}

async function stored(platform: Platform, clicks: RawClick[]) {
  const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
  await claim(platform, holder)
  await ingest(platform, holder, 0, [{ sequence: 1, body: clicks }])
  const rows = await query<{ workspace: string; ip: string; country: string }>(
    platform.clickhouse,
    `SELECT workspace_id AS workspace, toString(ip) AS ip, country FROM click_events
     WHERE workspace_id IN {workspaceIds:Array(String)}`,
    { workspaceIds: clicks.map(({ workspaceId }) => workspaceId) },
  )
  return clicks.map(({ workspaceId }) => rows.find(({ workspace }) => workspace === workspaceId))
}

test('in one batch each workspace stores as much of an IP address as its setting allows', async () => {
  const choices: (IpStorage | null)[] = ['none', 'truncated', 'full', null]
  const links = await Promise.all(choices.map(someLink))
  for (const [index, choice] of choices.entries())
    await changeWorkspace(shared, links[index]?.workspaceId ?? '', { ip_storage: choice })
  const clicks = links.map((link) => buildClick(shared, link, { ip: '193.99.144.80', country: 'DE' }))
  const rows = await stored(fresh(), clicks)
  expect(rows.map((row) => row?.ip)).toEqual([
    '::',
    '::ffff:193.99.144.0',
    '::ffff:193.99.144.80',
    '::ffff:193.99.144.0',
  ])
})

test('a built-in country is stored, but the full IP address only when a proxy sent the country', async () => {
  const [expectedIp, found] = [await someLink(), await someLink()]
  const clicks = [
    buildClick(shared, expectedIp, unitedStates),
    buildClick(shared, found, { ...unitedStates, country: '' }),
  ]
  expect(shared.geo.source).toBe('built-in')
  const rows = await stored(fresh(), clicks)
  expect(rows).toMatchObject([
    { country: 'US', ip: '::ffff:8.8.8.8' },
    { country: 'US', ip: '::ffff:8.8.8.0' },
  ])
})
