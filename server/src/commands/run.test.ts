import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test, vi } from 'vitest'
import { buildUser, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { createInvites } from '../features/invites/service.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const platform = await openTestPlatform()
// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

async function tributary(...words: string[]): Promise<string> {
  const env = { PATH: process.env.PATH, ...inject('environment') }
  const child = spawn(process.execPath, [main, ...words], { env })
  const [stdout] = await Promise.all([text(child.stdout), text(child.stderr)])
  return stdout
}

type Row = { operation: string; actor_id: string; target_ids: string[]; changes: unknown; line: string }

async function findEntries(workspaceId: string, targetId?: string): Promise<Row[]> {
  const condition = targetId === undefined ? sql`true` : sql`target_ids = ARRAY[${targetId}]`
  const result = await sql<Row>`SELECT operation, actor_id, target_ids, changes, row_to_json(entry)::text AS line
    FROM audit_entries AS entry WHERE workspace_id = ${workspaceId} AND ${condition} ORDER BY number`.execute(
    platform.db,
  )
  return result.rows
}

test('commands that change a workspace leave one entry each in its log, without secrets', async () => {
  const slug = `w-${randomUUID().slice(0, 13)}`
  const user = await buildUser(platform)
  const { id } = JSON.parse(await tributary('workspace', 'create', slug, '--json'))
  await tributary('workspace', 'set', slug, '--currency', 'eur', '--contact-email', 'ops@example.com')
  await tributary('workspace', 'set', slug, '--currency', 'euro')
  const key = JSON.parse(await tributary('key', 'create', slug, '--json'))
  await tributary('key', 'list', slug)
  const rotated = JSON.parse(await tributary('key', 'rotate', key.id, '--json'))
  await tributary('key', 'revoke', key.id)
  await tributary('member', 'add', slug, user.email)
  await tributary('member', 'remove', slug, user.email)
  await tributary('domain', 'add', slug, `${slug}.example.com`)
  await tributary('domain', 'verify', slug, `${slug}.example.com`)
  await tributary('domain', 'remove', slug, `${slug}.example.com`)
  const entries = await findEntries(id)
  expect(entries.map(({ operation }) => operation)).toEqual([
    'tributary workspace create',
    'tributary workspace set',
    'tributary key create',
    'tributary key rotate',
    'tributary key revoke',
    'tributary member add',
    'tributary member remove',
    'tributary domain add',
    'tributary domain verify',
    'tributary domain remove',
  ])
  expect(entries[1]?.changes).toMatchObject([{ after: { currency: 'eur', contactEmail: { $redacted: 'personal' } } }])
  expect(entries[2]?.target_ids).toEqual([key.id])
  expect(entries[3]).toMatchObject({
    target_ids: [key.id, rotated.id],
    changes: [{ after: { replacedBy: rotated.id, overlapHours: 24 } }],
  })
  expect(new Set(entries.map(({ actor_id }) => actor_id))).toEqual(new Set(['operator']))
  const lines = entries.map(({ line }) => line).join('\n')
  for (const secret of [key.key, rotated.key, user.email, 'ops@example.com']) expect(lines).not.toContain(secret)
})

test('`invite link` leaves an entry without the link', async () => {
  const { id } = await buildWorkspace(platform)
  const { invites } = await createInvites(contextIn(platform, id), { email: 'ada@example.com', role: 'member' })
  const inviteId = invites[0]?.invite?.id ?? ''
  await tributary('invite', 'link', inviteId)
  expect(await findEntries(id)).toMatchObject([
    { operation: 'tributary invite link', target_ids: [inviteId], changes: [] },
  ])
})

test("commands that change a user leave entries in the installation's log; a refused one leaves none", async () => {
  const email = `${randomUUID()}@example.com`
  const { id } = JSON.parse(await tributary('user', 'create', email, '--json'))
  await tributary('user', 'create', email)
  await tributary('user', 'reset', email, '--second-factor')
  await tributary('user', 'disable', email)
  await tributary('user', 'link', email)
  await tributary('user', 'enable', email)
  const link = await tributary('user', 'link', email)
  const entries = await findEntries('installation', id)
  expect(entries.map(({ operation }) => operation)).toEqual([
    'tributary user create',
    'tributary user reset',
    'tributary user disable',
    'tributary user enable',
    'tributary user link',
  ])
  const lines = entries.map(({ line }) => line).join('\n')
  for (const secret of [email, link.trim()]) expect(lines).not.toContain(secret)
})
