import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { selectEventTables } from '../server/src/maintenance/erase-store.ts'
import { query } from '../server/src/platform/clickhouse.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { type BuiltWorkspace, browser, buildLink, buildMember, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { countRows } from '../server/test/workspace-rows.ts'

const rows = sized({ short: 30_000, full: 300_000 })
const kills = 3
const clicks = 20

test('after each kill -9 of the worker, the erasure of a deleted workspace continues until nothing is left', async () => {
  const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `erase_${Date.now()}`)
  const environment = { ...inject('environment'), ...engines.urls, POSTGRES_URL: database }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const front = await startServer({ ...environment, ROLES: 'api,redirect', TRUSTED_PROXIES: '127.0.0.1' })
  let worker = await startServer({ ...environment, ROLES: 'worker' })
  try {
    const [ours, theirs] = [await buildFull(), await buildFull()]
    const owner = await buildMember(platform, ours, 'owner')
    await eventually(async () => {
      for (const { id } of [ours, theirs]) expect((await countEvents(id)).click_events).toBe(clicks)
    })
    const before = await countRows(platform, theirs.id)

    const call = async (method: string, path: string) => {
      const headers = { cookie: owner.cookie, 'sec-fetch-site': 'same-origin' }
      const response = await fetch(front.api + path, { method, headers })
      return { status: response.status, body: (await response.json()) as { status: string; erasedRows: number } }
    }
    const readDeletion = async () => (await call('GET', `/workspaces/${ours.id}/deletion`)).body
    worker.kill('SIGKILL')
    expect((await call('DELETE', `/workspaces/${ours.id}?confirm=${ours.slug}`)).status).toBe(202)
    await eventually(async () => expect((await open(ours, 1)).status).toBe(404), 2_000)
    worker = await startServer({ ...environment, ROLES: 'worker' })

    let erased = 0
    for (let kill = 1; kill <= kills; kill++) {
      await eventually(async () => expect((await readDeletion()).erasedRows).toBeGreaterThan(erased))
      worker.kill('SIGKILL')
      expect((await countRows(platform, ours.id)).tags, 'the worker was killed too late').toBeGreaterThan(0)
      const { status, erasedRows } = await readDeletion()
      expect(status).toBe('erasing')
      erased = erasedRows
      expect((await open(ours, kill)).status).toBe(404)
      worker = await startServer({ ...environment, ROLES: 'worker' })
    }

    await eventually(async () => expect(await readDeletion()).toMatchObject({ status: 'erased', step: '' }), 120_000)
    expect((await readDeletion()).erasedRows).toBeGreaterThan(rows)
    expect(await countRows(platform, ours.id)).toEqual({})
    expect(Object.values(await countEvents(ours.id)).every((count) => count === 0)).toBe(true)
    expect((await sql`SELECT FROM workspaces WHERE id = ${ours.id}`.execute(platform.db)).rows).toEqual([])
    expect(await countRows(platform, theirs.id)).toEqual(before)
    expect((await countEvents(theirs.id)).click_events).toBe(clicks)
    expect((await open(theirs, 1)).status).toBe(302)
  } finally {
    await worker.stop()
    await front.stop()
    await engines.stop()
  }

  async function buildFull(): Promise<BuiltWorkspace> {
    const workspace = await buildWorkspace(platform)
    await buildLink(platform, workspace, { key: 'erased' })
    await sql`INSERT INTO tags (id, workspace_id, name, color)
      SELECT 'tag_' || gen_random_uuid(), ${workspace.id}, 'tag ' || n, 'red'
      FROM generate_series(1, ${rows}::int) AS n`.execute(platform.db)
    for (let visitor = 1; visitor <= clicks; visitor++) expect((await open(workspace, visitor)).status).toBe(302)
    return workspace
  }

  function open({ domain }: BuiltWorkspace, visitor: number) {
    const headers = { host: domain, 'user-agent': browser, 'x-forwarded-for': `198.51.100.${visitor}` }
    return visit(`${front.redirect}/erased`, headers)
  }

  /** Counts the rows of a workspace in each ClickHouse table. */
  async function countEvents(workspaceId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const table of await selectEventTables(platform.clickhouse)) {
      const statement = `SELECT count() AS count FROM ${table} WHERE workspace_id = {workspaceId:String}`
      const [row] = await query<{ count: string }>(platform.clickhouse, statement, { workspaceId })
      counts[table] = Number(row?.count)
    }
    return counts
  }
})
