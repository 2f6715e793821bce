import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { asSystem } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { removeExpired } from './retention.ts'
import { sealEntries } from './seal-entries.ts'
import { recordAudit, verifyAudit } from './service.ts'

const platform = await openOwnDatabase()
const actor = { kind: 'system', id: 'system' } as const

/** Records entries in a new workspace and seals them. */
async function buildChain(count: number, at = platform.now): Promise<string> {
  const { id } = await buildWorkspace(platform)
  for (let index = 1; index <= count; index++) {
    const entry = { operation: `step ${index}`, actor, workspaceId: id, details: { index } }
    await recordAudit({ ...platform, now: at }, entry)
  }
  await sealEntries(platform)
  return id
}

async function sequences(workspaceId: string): Promise<number[]> {
  const result = await sql<{ sequence: bigint }>`SELECT sequence FROM audit_entries
    WHERE workspace_id = ${workspaceId} AND hash IS NOT NULL ORDER BY sequence`.execute(platform.db)
  return result.rows.map(({ sequence }) => Number(sequence))
}

/** Changes rows as an attacker would who has the database's password, but not the encryption keys. */
async function tamper(work: (ctx: Pick<typeof platform, 'db'>) => Promise<unknown>): Promise<void> {
  await transaction({ db: platform.db }, async (ctx) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(ctx.db)
    await work(ctx)
  })
}

function problems(workspaceId: string) {
  return verifyAudit(platform, { workspaceId })
}

test('sealed entries of a workspace are numbered without gaps and verify', async () => {
  const id = await buildChain(5)
  expect(await sequences(id)).toEqual([1, 2, 3, 4, 5])
  expect(await problems(id)).toEqual([])
})

test.each([
  ['operation', sql`operation = 'step 9'`],
  ['actor', sql`actor_id = 'key_other'`],
  ['time', sql`at = at - interval '1 day'`],
  ['changes', sql`changes = '[]'`],
  ['targets', sql`target_ids = '{link_1}'`],
])('verify names an entry with a changed %s', async (_, change) => {
  const id = await buildChain(4)
  await tamper(({ db }) =>
    sql`UPDATE audit_entries SET ${change} WHERE workspace_id = ${id} AND sequence = 3`.execute(db),
  )
  expect(await problems(id)).toEqual([expect.objectContaining({ workspaceId: id, sequence: '3', problem: 'changed' })])
})

test('verify names missing entries', async () => {
  const id = await buildChain(5)
  await tamper(({ db }) => sql`DELETE FROM audit_entries WHERE workspace_id = ${id} AND sequence IN (2, 3)`.execute(db))
  expect(await problems(id)).toEqual([
    expect.objectContaining({ sequence: '2', problem: 'missing', detail: expect.stringContaining('2 entries') }),
  ])
})

test('verify names missing entries at the end of a chain', async () => {
  const id = await buildChain(5)
  await tamper(({ db }) => sql`DELETE FROM audit_entries WHERE workspace_id = ${id} AND sequence > 3`.execute(db))
  expect(await problems(id)).toEqual([
    expect.objectContaining({ sequence: '4', problem: 'missing', detail: expect.stringContaining('2 entries') }),
  ])
})

test('verify finds a chain whose end was set to an earlier entry', async () => {
  const id = await buildChain(5)
  await tamper(async ({ db }) => {
    await sql`DELETE FROM audit_entries WHERE workspace_id = ${id} AND sequence > 3`.execute(db)
    await sql`UPDATE audit_chains AS chain SET sequence = entry.sequence, hash = entry.hash FROM audit_entries AS entry
      WHERE chain.workspace_id = ${id} AND entry.workspace_id = ${id} AND entry.sequence = 3`.execute(db)
  })
  expect(await problems(id)).toEqual([expect.objectContaining({ sequence: null, problem: 'chain changed' })])
})

test('verify finds entries whose chain was deleted', async () => {
  const id = await buildChain(2)
  await tamper(({ db }) => sql`DELETE FROM audit_chains WHERE workspace_id = ${id}`.execute(db))
  expect(await problems(id)).toEqual([expect.objectContaining({ problem: 'chain changed' })])
  expect(await verifyAudit(platform, {})).toContainEqual(expect.objectContaining({ workspaceId: id }))
})

test('verify names entries that changed places', async () => {
  const id = await buildChain(5)
  await tamper(async ({ db }) => {
    const move = (from: number, to: number) =>
      sql`UPDATE audit_entries SET sequence = ${to} WHERE workspace_id = ${id} AND sequence = ${from}`.execute(db)
    await move(2, 99)
    await move(3, 2)
    await move(99, 3)
  })
  const moved = (sequence: string, home: number) =>
    expect.objectContaining({ sequence, problem: 'moved', detail: expect.stringContaining(`sealed as ${home}`) })
  expect(await problems(id)).toEqual([moved('2', 3), moved('3', 2)])
})

test('entries never change, and only the retention job deletes them', async () => {
  const id = await buildChain(2)
  const where = sql`WHERE workspace_id = ${id}`
  for (const statement of [
    sql`UPDATE audit_entries SET operation = 'x' ${where}`,
    sql`UPDATE audit_entries SET sequence = 7 ${where} AND sequence = 2`,
    sql`DELETE FROM audit_entries ${where}`,
    sql`TRUNCATE audit_entries`,
  ])
    await expect(statement.execute(platform.db)).rejects.toThrow('rows of audit_entries never change')
})

test('an entry that is not sealed yet does not change either', async () => {
  const { id } = await buildWorkspace(platform)
  await expect(
    transaction(asSystem(platform, id), async (ctx) => {
      await recordAudit(ctx, { operation: 'one', actor, workspaceId: id })
      await sql`UPDATE audit_entries SET operation = 'x' WHERE workspace_id = ${id}`.execute(ctx.db)
    }),
  ).rejects.toThrow('rows of audit_entries never change')
})

test('retention removes the oldest entries, and the rest still verifies', async () => {
  const old = new Date(Date.now() - 800 * 86_400_000)
  const id = await buildChain(3, () => old)
  await recordAudit(platform, { operation: 'new', actor, workspaceId: id })
  await sealEntries(platform)
  await removeExpired(platform)
  expect(await sequences(id)).toEqual([4])
  expect(await problems(id)).toEqual([])
  await tamper(({ db }) => sql`DELETE FROM audit_entries WHERE workspace_id = ${id} AND sequence = 4`.execute(db))
  expect(await problems(id)).toEqual([expect.objectContaining({ sequence: '4', problem: 'missing' })])
})

test('a chain that was sealed with an earlier encryption key verifies while that key is configured', async () => {
  const id = await buildChain(2)
  const { secrets, current } = platform.config.ENCRYPTION_KEYS
  const newest = { current: 200, secrets: new Map([[200, Buffer.alloc(32, 7)], ...secrets]) }
  expect(
    await verifyAudit({ ...platform, config: { ...platform.config, ENCRYPTION_KEYS: newest } }, { workspaceId: id }),
  ).toEqual([])
  const without = { current: 200, secrets: new Map([[200, Buffer.alloc(32, 7)]]) }
  await expect(
    verifyAudit({ ...platform, config: { ...platform.config, ENCRYPTION_KEYS: without } }, { workspaceId: id }),
  ).rejects.toThrow(`sealed with key ${current}, which is not in ENCRYPTION_KEYS`)
})
