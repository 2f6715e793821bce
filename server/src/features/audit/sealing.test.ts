import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { locks } from '../../platform/locks.ts'
import { transaction } from '../../platform/postgres.ts'
import { verifyAudit } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const lockTimeoutMs = 5_000

async function open() {
  const workspace = await buildWorkspace(platform)
  const links = await Promise.all([1, 2, 3, 4, 5].map(() => buildLink(platform, workspace)))
  const send = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
    return (await fetch(api + path, { method, headers, body: JSON.stringify(body) })).status
  }
  const countEntries = async (condition = sql`true`) => {
    const result = await sql<{ count: bigint }>`SELECT count(*) FROM audit_entries
      WHERE workspace_id = ${workspace.id} AND ${condition}`.execute(platform.db)
    return Number(result.rows[0]?.count)
  }
  const expectSealed = (count: number) =>
    eventually(async () => expect(await countEntries(sql`hash IS NOT NULL`)).toBe(count), 10_000)
  return { workspace, links, send, countEntries, expectSealed }
}

test('writes commit while the chain of their workspace is locked, and are sealed afterwards', async () => {
  const { workspace, links, send, countEntries, expectSealed } = await open()
  expect(await send('POST', '/tags', { name: 'first' })).toBe(201)
  // The write, and the first use of the key from this network.
  await expectSealed(2)

  await transaction(platform, async ({ db }) => {
    // If a write waited for the chain, this transaction would never end.
    await sql`SET LOCAL idle_in_transaction_session_timeout = ${sql.lit(lockTimeoutMs)}`.execute(db)
    await sql`SELECT pg_advisory_xact_lock(${locks.auditSealing})`.execute(db)
    await sql`SELECT FROM audit_chains WHERE workspace_id = ${workspace.id} FOR UPDATE`.execute(db)
    const statuses = await Promise.all([
      ...Array.from({ length: 10 }, (_, n) => send('POST', '/links', { url: `https://example.com/${n}` })),
      ...Array.from({ length: 5 }, (_, n) => send('POST', '/tags', { name: `tag ${n}` })),
      ...links.map(({ id }) => send('PATCH', `/links/${id}`, { title: 'changed' })),
    ])
    expect(statuses.sort()).toEqual([...Array(15).fill(200), ...Array(5).fill(201)])
    expect(await countEntries(sql`hash IS NULL`)).toBe(20)
  })

  await expectSealed(22)
  expect(await verifyAudit(platform, { workspaceId: workspace.id })).toEqual([])
})
