import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildUser, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { openOwnDatabase } from '../../test/own-database.ts'
import { sealEntries } from '../features/audit/seal-entries.ts'
import { recordAudit } from '../features/audit/service.ts'
import { transaction } from '../platform/postgres.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const platform = await openOwnDatabase()
const environment = { ...inject('environment'), POSTGRES_URL: platform.config.POSTGRES_URL }

/** A workspace and a user with two entries: one in the workspace, one in the installation. */
async function build() {
  const [workspace, user] = [await buildWorkspace(platform), await buildUser(platform, { name: 'Ada' })]
  const actor = { kind: 'user', id: user.id } as const
  const ctx = contextIn(platform, workspace.id)
  const network = '192.0.2.7'
  const target = { kind: 'tags', ids: ['tag_1', 'tag_2'] }
  await recordAudit(ctx, { operation: 'createTag', actor, workspaceId: workspace.id, network, target })
  await recordAudit(ctx, { operation: 'sign-in', actor, network })
  await sealEntries(platform)
  return { workspace, user }
}

test('`audit list` shows entries of a workspace with the names of actors', async () => {
  const { workspace, user } = await build()
  const { code, stdout } = await tributary('audit', 'list', '--workspace', workspace.slug)
  expect(code).toBe(0)
  expect(stdout).toMatch(new RegExp(`createTag +${user.id} \\(Ada\\) +192\\.0\\.2\\.7 +tag_1 and 1 more`))
  const none = await tributary('audit', 'list', '--workspace', workspace.slug, '--operation', 'createLink')
  expect(none.stdout).toBe('There are no such entries.\n')
})

test('`audit list` without a workspace shows the entries of the installation', async () => {
  const { user } = await build()
  const { stdout } = await tributary('audit', 'list', '--actor', user.id, '--json')
  expect(JSON.parse(stdout)).toMatchObject([
    { operation: 'sign-in', actor: { id: user.id, name: 'Ada', network: '192.0.2.7' } },
  ])
})

test('`audit list` names the option that is wrong', async () => {
  expect(await tributary('audit', 'list', '--start', 'yesterday')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--start: '),
  })
  expect(await tributary('audit', 'list', '--limit', '5000')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--limit: '),
  })
  expect(await tributary('audit', 'list', '--workspace', 'nowhere')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('There is no workspace nowhere'),
  })
})

test('`audit export` prints all entries, and leaves an entry', async () => {
  const { workspace, user } = await build()
  const csv = await tributary('audit', 'export', '--workspace', workspace.slug)
  expect(csv.stdout).toMatch(/^sequence,at,actorKind,actorId,actorName,/)
  expect(csv.stdout).toContain(`,user,${user.id},Ada,`)
  await sealEntries(platform)
  const json = await tributary('audit', 'export', '--workspace', workspace.slug, '--format', 'json')
  const operations = json.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).operation)
  expect(operations).toEqual(['createTag', 'tributary audit export'])
  const own = await tributary('audit', 'export', '--format', 'json', '--actor', user.id)
  expect(JSON.parse(own.stdout)).toMatchObject({ operation: 'sign-in' })
})

test('`audit verify` names an entry of the installation that was changed', async () => {
  const { workspace } = await build()
  expect(await tributary('audit', 'verify')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('as it was sealed'),
  })
  await transaction({ db: platform.db }, async ({ db }) => {
    await sql`SET LOCAL session_replication_role = replica`.execute(db)
    await sql`UPDATE audit_entries SET operation = 'sign-out'
      WHERE workspace_id = 'installation' AND sequence = (SELECT max(sequence) FROM audit_entries
        WHERE workspace_id = 'installation')`.execute(db)
  })
  expect(await tributary('audit', 'verify')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/installation +\d+ +changed/),
  })
  expect((await tributary('audit', 'verify', '--workspace', workspace.id)).code).toBe(0)
})

async function tributary(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [main, ...words], { env: { ...process.env, ...environment } })
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number>((resolve) => child.on('exit', resolve)),
  ])
  return { code, stdout, stderr }
}
