import { randomUUID } from 'node:crypto'
import { type AuditEntry, listAuditLog } from '@tributary/contract/audit'
import { createClient } from '@tributary/contract/client'
import { createCustomer, deleteCustomer, updateCustomer } from '@tributary/contract/customers'
import { createLink, updateLink } from '@tributary/contract/links'
import type { Scope } from '@tributary/contract/permissions'
import { createTag } from '@tributary/contract/tags'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createToken } from '../tokens/service.ts'
import { recordLimited, verifyAudit } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function open() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  /** Waits until the worker has sealed an entry of this operation. */
  const find = (operation: string): Promise<AuditEntry> =>
    eventually(async () => {
      const [entry] = await call(listAuditLog, { query: { operation } })
      if (!entry) throw new Error(`no entry of ${operation}`)
      return entry
    })
  const withScopes = async (scopes: Scope[]) => {
    const { key } = await createToken(platform, { workspaceId: workspace.id, name: 'other', scopes })
    return { key, call: createClient({ url: api, token: key }) }
  }
  return { workspace, call, find, withScopes }
}

describe('listAuditLog', () => {
  it('200: has the actor, the network and the changed fields, without secrets', async () => {
    const { workspace, call, find } = await open()
    const link = await call(createLink, { body: { url: 'https://example.com/a' } })
    await call(updateLink, { params: { linkId: link.id }, body: { url: 'https://example.com/b', password: 'secret' } })
    expect(await find('updateLink')).toMatchObject({
      actor: { kind: 'key', id: workspace.keyId, credential: workspace.keyId, network: '127.0.0.1' },
      target: { kind: 'links', ids: [link.id] },
      requestId: expect.any(String),
      changes: [
        {
          kind: 'links',
          id: link.id,
          before: { url: 'https://example.com/a', password: null },
          after: { url: 'https://example.com/b', password: { redacted: 'secret' } },
        },
      ],
    })
    expect(await find('key.new-network')).toMatchObject({ target: { kind: 'tokens', ids: [workspace.keyId] } })
  })

  it('200: pages by cursor and filters by actor, target and time', async () => {
    const { workspace, call, find } = await open()
    const { id } = await call(createTag, { body: { name: 'one' } })
    await call(createTag, { body: { name: 'two' } })
    await eventually(async () =>
      expect(await call(listAuditLog, { query: { operation: 'createTag' } })).toHaveLength(2),
    )
    const names = async (query: object) => (await call(listAuditLog, { query })).map(({ operation }) => operation)
    expect(await names({ targetId: id })).toEqual(['createTag'])
    expect(await names({ actorId: workspace.keyId })).toHaveLength(3)
    expect(await names({ actorId: 'key_other' })).toEqual([])
    expect(await names({ end: '2020-01-01T00:00:00Z' })).toEqual([])
    const { sequence } = await find('createTag')
    const older = await call(listAuditLog, { query: { cursor: String(sequence), pageSize: 1 } })
    expect(older.map((entry) => entry.sequence)).toEqual([sequence - 1])
    const response = await fetch(`${api}/audit-log?pageSize=1`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    expect(response.headers.get('x-next-cursor')).toMatch(/^\d+$/)
  })

  it('200: personal values need every scope, and are erased with the customer', async () => {
    const { workspace, call, find, withScopes } = await open()
    const { id } = await call(createCustomer, { body: { externalId: randomUUID(), name: 'Ann' } })
    await call(updateCustomer, { params: { id }, body: { name: 'Bob' } })
    const names = (entry: AuditEntry | undefined) => [entry?.changes[0]?.before?.name, entry?.changes[0]?.after?.name]
    expect(names(await find('updateCustomer'))).toEqual(['Ann', 'Bob'])
    const { call: callAsReader } = await withScopes(['audit.read'])
    const [hidden] = await callAsReader(listAuditLog, { query: { operation: 'updateCustomer' } })
    expect(names(hidden)).toEqual([{ redacted: 'personal' }, { redacted: 'personal' }])
    expect(hidden?.actor.network).toBeNull()
    await call(deleteCustomer, { params: { id } })
    expect(names(await find('updateCustomer'))).toEqual([{ redacted: 'erased' }, { redacted: 'erased' }])
    await find('deleteCustomer')
    expect(await verifyAudit(platform, { workspaceId: workspace.id })).toEqual([])
  })

  it('403: needs the scope audit.read', async () => {
    const { withScopes } = await open()
    const { call } = await withScopes(['links.write'])
    await expect(call(listAuditLog)).rejects.toMatchObject({ status: 403 })
  })

  it('422: refuses a period that ends before it starts', async () => {
    const { call } = await open()
    const query = { start: '2026-02-01T00:00:00Z', end: '2026-01-01T00:00:00Z' }
    await expect(call(listAuditLog, { query })).rejects.toMatchObject({ status: 422 })
  })
})

describe('exportAuditLog', () => {
  it.each(['csv', 'json'])('200: streams all entries as %s, and is recorded itself', async (format) => {
    const { workspace, call, find } = await open()
    await call(createTag, { body: { name: 'one' } })
    await find('createTag')
    const response = await fetch(`${api}/audit-log/export?format=${format}`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.stringContaining('createTag')])
    expect((await find('exportAuditLog')).changes[0]?.after).toEqual({ format })
  })
})

it('events that strangers cause are limited per hour', async () => {
  const name = `sign-in-failed ${randomUUID()}`
  const actor = { kind: 'user', id: `user_${randomUUID()}` } as const
  for (let index = 0; index < 5; index++)
    await recordLimited(platform, { operation: 'sign-in-failed', actor, network: '192.0.2.1' }, { name, most: 3 })
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM audit_entries
    WHERE workspace_id = 'installation' AND actor_id = ${actor.id}`.execute(platform.db)
  expect(result.rows[0]?.count).toBe(3n)
})
