import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@tributary/contract/client'
import { createTag } from '@tributary/contract/tags'
import * as contract from '@tributary/contract/tokens'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { changeWorkspace } from '../workspaces/service.ts'
import { createToken } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: { key: string }) => createClient({ url: api, token: workspace.key })
const day = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()

async function send(workspace: { key: string }, method: string, path: string, body?: object, headers: object = {}) {
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${workspace.key}`, ...headers },
    body: body && JSON.stringify(body),
  })
  const answer = (await response.json()) as { id?: string; key?: string; error?: { code: string; message: string } }
  return { status: response.status, code: answer.error?.code, message: answer.error?.message, answer }
}

function buildKey(workspace: BuiltWorkspace, given: Partial<contract.NewToken> = {}) {
  return as(workspace)(contract.createToken, { body: { name: 'mine', scopes: ['links.read'], ...given } })
}

/** Waits until a key gets this status. Returns the milliseconds. */
async function waitForStatus(key: string, status: number): Promise<number> {
  const started = performance.now()
  while (performance.now() - started < 3_000) {
    if ((await send({ key }, 'GET', '/links?pageSize=1')).status === status) break
    await sleep(20)
  }
  return performance.now() - started
}

describe('createToken', () => {
  test('201: returns a machine key once; it works, and only its start and end are listed', async () => {
    const workspace = await buildWorkspace(platform)
    const expiresAt = inDays(30)
    const { key, ...token } = await buildKey(workspace, { scopes: ['links.read', 'links.read'], expiresAt })
    expect(token).toEqual({
      id: expect.stringMatching(/^key_/),
      name: 'mine',
      kind: 'machine',
      prefix: key.slice(0, 8),
      lastFour: key.slice(-4),
      scopes: ['links.read'],
      allowedHostnames: null,
      userId: null,
      createdBy: workspace.keyId,
      lastUsedAt: null,
      lastUsedFrom: null,
      expiresAt,
      revokedAt: null,
      replacedBy: null,
      createdAt: expect.any(String),
    })
    expect((await send({ key }, 'GET', '/links')).status).toBe(200)
    expect((await send({ key }, 'POST', '/links', { url: 'https://example.com/' })).status).toBe(403)
    const listed = await as(workspace)(contract.listTokens, {})
    expect(listed.map(({ id }) => id)).toEqual([token.id, workspace.keyId])
    expect(JSON.stringify(listed)).not.toContain(key)
  })

  test('201: a repeated request with the same Idempotency-Key returns the same key, which is not stored in clear text', async () => {
    const workspace = await buildWorkspace(platform)
    const create = (by: { key: string }) =>
      send(by, 'POST', '/tokens', { name: 'once', scopes: ['links.read'] }, { 'idempotency-key': 'one' })
    const first = await create(workspace)
    expect((await create(workspace)).answer).toEqual(first.answer)
    const stored = await sql<{ row: string }>`SELECT known::text AS row FROM idempotency_keys known
      WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    const { key = '' } = first.answer
    expect(stored.rows).toHaveLength(1)
    for (const text of [key, key.slice(5), Buffer.from(key).toString('hex')])
      expect(stored.rows[0]?.row).not.toContain(text)
    // Another key must not get the stored secret.
    const other = await createToken(platform, { workspaceId: workspace.id, name: 'other', scopes: ['tokens.write'] })
    expect(await create(other)).toMatchObject({ status: 422, code: 'unprocessable_entity' })
  })

  test('201: a publishable key works on its own hostnames, or else on those of the workspace', async () => {
    const workspace = await buildWorkspace(platform)
    await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['workspace.example'] })
    const kind = { kind: 'publishable' as const, scopes: undefined }
    const own = await buildKey(workspace, { ...kind, allowedHostnames: ['WWW.Own.example', '*.own.example'] })
    expect(own).toMatchObject({
      kind: 'publishable',
      scopes: ['conversions.write'],
      allowedHostnames: ['own.example', '*.own.example'],
    })
    const general = await buildKey(workspace, kind)
    const track = async ({ key }: { key: string }, origin: string) =>
      (await send({ key }, 'POST', '/track/lead', {}, { origin })).status
    expect(await track(own, 'https://shop.own.example')).toBe(400)
    expect(await track(own, 'https://workspace.example')).toBe(403)
    expect(await track(general, 'https://workspace.example')).toBe(400)
    expect(await track(general, 'https://own.example')).toBe(403)
    expect((await send(own, 'GET', '/tokens', undefined, { origin: 'https://own.example' })).status).toBe(403)
  })

  test.each<[string, object]>([
    ['no name', { scopes: ['links.read'] }],
    ['an unknown scope', { name: 'n', scopes: ['links.delete'] }],
    ['no scope in the list', { name: 'n', scopes: [] }],
    ['a date without a time', { name: 'n', scopes: ['links.read'], expiresAt: '2030-01-01' }],
  ])('400 or 422: %s', async (_name, body) => {
    const workspace = await buildWorkspace(platform)
    expect([400, 422]).toContain((await send(workspace, 'POST', '/tokens', body)).status)
  })

  test.each<[string, object]>([
    ['`scopes` in the body is required for a machine key.', {}],
    ['`scopes` in the body must be omitted', { kind: 'publishable', scopes: ['links.read'] }],
    ['`allowedHostnames` in the body is for publishable keys', { scopes: ['links.read'], allowedHostnames: ['a.b'] }],
    ['"a b" is not a hostname.', { kind: 'publishable', allowedHostnames: ['a b'] }],
    ['`expiresAt` in the body must be a future time', { scopes: ['links.read'], expiresAt: '2020-01-01T00:00:00Z' }],
    ['`expiresAt` in the body must be a future time', { scopes: ['links.read'], expiresAt: '2099-01-01T00:00:00Z' }],
  ])('422: %s', async (message, body) => {
    const workspace = await buildWorkspace(platform)
    const refused = await send(workspace, 'POST', '/tokens', { name: 'n', ...body })
    expect(refused).toMatchObject({ status: 422, message: expect.stringContaining(message) })
  })

  test('403: a key without apis.all creates no keys, and a machine key creates no personal key', async () => {
    const workspace = await buildWorkspace(platform, { scopes: ['tokens.write', 'links.read'] })
    const body = { name: 'n', scopes: ['links.read'] }
    expect(await send(workspace, 'POST', '/tokens', body)).toMatchObject({
      status: 403,
      message:
        'Only owners, admins and keys with the scope apis.all may create a machine key. Create a personal key, or ask one of them.',
    })
    expect(await send(workspace, 'POST', '/tokens', { ...body, kind: 'personal' })).toMatchObject({
      status: 403,
      message: 'A personal key belongs to a user. Sign in to create one, or create a key of the kind machine.',
    })
  })

  test('403: a key can not create a key that expires later than itself', async () => {
    const workspace = await buildWorkspace(platform, { expiresAt: new Date(Date.now() + day) })
    const create = (expiresAt?: string) =>
      send(workspace, 'POST', '/tokens', { name: 'n', scopes: ['links.read'], expiresAt })
    expect((await create()).status).toBe(403)
    expect((await create(inDays(2))).message).toContain("can't create or extend a key that expires later")
    expect((await create(inDays(0.5))).status).toBe(201)
  })
})

describe('listTokens', () => {
  test('200: filters by kind and sorts, page by page; revoked and expired keys show on request', async () => {
    const workspace = await buildWorkspace(platform)
    const b = await buildKey(workspace, { name: 'b' })
    const a = await buildKey(workspace, { name: 'a' })
    const page = await buildKey(workspace, { name: 'page', kind: 'publishable', scopes: undefined })
    const expired = await buildKey(workspace, { name: 'expired' })
    await sql`UPDATE tokens SET expires_at = now() WHERE id = ${expired.id}`.execute(platform.db)
    await as(workspace)(contract.revokeToken, { params: { id: b.id } })
    const names = async (query: object) => (await as(workspace)(contract.listTokens, { query })).map(({ name }) => name)
    expect(await names({ sortBy: 'name', sortOrder: 'asc' })).toEqual(['a', 'page', 'test'])
    expect(await names({ sortBy: 'name', sortOrder: 'asc', pageSize: 2, page: 2 })).toEqual(['test'])
    expect(await names({ showInactive: 'true', sortBy: 'name', sortOrder: 'asc' })).toHaveLength(5)
    expect(await names({ kind: 'publishable' })).toEqual(['page'])
    expect(await names({ kind: 'machine' })).toEqual(['a', 'test'])
    expect(await names({ kind: 'personal' })).toEqual([])
    expect([a.kind, page.kind]).toEqual(['machine', 'publishable'])
  })

  test('200: shows when and from which network a key was used, unless the workspace stores no addresses', async () => {
    const workspace = await buildWorkspace(platform)
    const [own] = await as(workspace)(contract.listTokens, {})
    expect(own?.lastUsedFrom).toBe('127.0.0.0/24')
    expect(Date.now() - Date.parse(own?.lastUsedAt ?? '')).toBeLessThan(60_000)
    const silent = await buildWorkspace(platform)
    await changeWorkspace(platform, silent.id, { ip_storage: 'none' })
    expect(await as(silent)(contract.listTokens, {})).toMatchObject([{ lastUsedFrom: null }])
  })
})

describe('getToken', () => {
  test('200: returns the key without its secret', async () => {
    const workspace = await buildWorkspace(platform)
    const { key, ...token } = await buildKey(workspace)
    expect(await as(workspace)(contract.getToken, { params: { id: token.id } })).toEqual(token)
  })

  test('404: a key of another workspace', async () => {
    const [workspace, other] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    expect(await send(workspace, 'GET', `/tokens/${other.keyId}`)).toMatchObject({
      status: 404,
      message: `There is no key ${other.keyId} in this workspace.`,
    })
  })
})

describe('updateToken', () => {
  test('200: renames a key, removes scopes and changes the expiry; it applies within a second', async () => {
    const workspace = await buildWorkspace(platform)
    const { key, id } = await buildKey(workspace, { scopes: ['links.write', 'tags.write'] })
    await as({ key })(createTag, { body: { name: 'before' } })
    const body = { name: 'renamed', scopes: ['links.read' as const], expiresAt: inDays(2) }
    expect(await as(workspace)(contract.updateToken, { params: { id }, body })).toMatchObject(body)
    await sleep(1_000)
    expect((await send({ key }, 'GET', '/links')).status).toBe(200)
    expect((await send({ key }, 'POST', '/tags', { name: 'after' })).status).toBe(403)
    const later = { expiresAt: null }
    expect(await as(workspace)(contract.updateToken, { params: { id }, body: later })).toMatchObject(later)
    expect(await as(workspace)(contract.updateToken, { params: { id }, body: {} })).toMatchObject({ name: 'renamed' })
  })

  test('422: adds no scope', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildKey(workspace, { scopes: ['links.read'] })
    expect(await send(workspace, 'PATCH', `/tokens/${id}`, { scopes: ['links.write', 'links.read'] })).toMatchObject({
      status: 422,
      message: '`scopes` in the body has scopes that the key lacks: links.write. Create a new key to grant them.',
    })
  })

  test('403: a key with fewer scopes may shorten the life of another key, but not extend it', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildKey(workspace, { scopes: ['domains.write'], expiresAt: inDays(5) })
    const weak = await buildKey(workspace, { scopes: ['tokens.write'] })
    const change = async (expiresAt: string) => (await send(weak, 'PATCH', `/tokens/${id}`, { expiresAt })).status
    expect(await change(inDays(4))).toBe(200)
    expect(await change(inDays(6))).toBe(403)
  })

  test('403: a key can not extend itself', async () => {
    const workspace = await buildWorkspace(platform, { expiresAt: new Date(Date.now() + day) })
    const body = { expiresAt: inDays(9) }
    expect((await send(workspace, 'PATCH', `/tokens/${workspace.keyId}`, body)).status).toBe(403)
  })

  test('409: a revoked key stays as it is', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildKey(workspace)
    await as(workspace)(contract.revokeToken, { params: { id } })
    expect(await send(workspace, 'PATCH', `/tokens/${id}`, { name: 'x' })).toMatchObject({ status: 409 })
  })

  test('404: an unknown key', async () => {
    const workspace = await buildWorkspace(platform)
    expect((await send(workspace, 'PATCH', '/tokens/key_unknown', { name: 'x' })).status).toBe(404)
  })
})

describe('rotateToken', () => {
  test('201: both keys work during the overlap; afterwards only the new one does', async () => {
    const workspace = await buildWorkspace(platform)
    const old = await buildKey(workspace)
    const body = { overlapHours: 1.5 / 3_600 }
    const renewed = await as(workspace)(contract.rotateToken, { params: { id: old.id }, body })
    expect(renewed).toMatchObject({ name: 'mine', scopes: ['links.read'], kind: 'machine', expiresAt: null })
    expect(renewed.key).not.toBe(old.key)
    expect((await send(old, 'GET', '/links')).status).toBe(200)
    expect((await send(renewed, 'GET', '/links')).status).toBe(200)
    expect(await as(workspace)(contract.getToken, { params: { id: old.id } })).toMatchObject({ replacedBy: renewed.id })
    expect(await waitForStatus(old.key, 401)).toBeLessThan(2_500)
    expect((await send(renewed, 'GET', '/links')).status).toBe(200)
  })

  test('201: without an overlap, a busy old key stops within a second, also at the quota', async () => {
    const workspace = await buildWorkspace(platform)
    const old = await buildKey(workspace)
    expect((await send(old, 'GET', '/links')).status).toBe(200)
    await as(workspace)(contract.rotateToken, { params: { id: old.id }, body: { overlapHours: 0 } })
    expect(await waitForStatus(old.key, 401)).toBeLessThan(1_000)
  })

  test('400: an overlap of more than a week', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildKey(workspace)
    expect((await send(workspace, 'POST', `/tokens/${id}/rotate`, { overlapHours: 169 })).status).toBe(422)
    expect((await send(workspace, 'POST', `/tokens/${id}/rotate`, { overlapHours: -1 })).status).toBe(422)
  })

  test('403: a key with fewer scopes can not obtain the secret of a stronger one', async () => {
    const workspace = await buildWorkspace(platform)
    const weak = await buildKey(workspace, { scopes: ['tokens.write'] })
    expect(await send(weak, 'POST', `/tokens/${workspace.keyId}/rotate`, {})).toMatchObject({
      status: 403,
      message: 'This key lacks the scopes of the key: apis.all. Grant only scopes that you have.',
    })
  })

  test('409: a key that has been rotated', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildKey(workspace)
    const rotate = () => send(workspace, 'POST', `/tokens/${id}/rotate`, {})
    const { answer } = await rotate()
    expect(await rotate()).toMatchObject({
      status: 409,
      message: `The key ${id} has been rotated: ${answer.id} replaced it. Rotate that key.`,
    })
    expect((await send(workspace, 'PATCH', `/tokens/${id}`, { expiresAt: null })).status).toBe(409)
  })

  test('404: an unknown key', async () => {
    const workspace = await buildWorkspace(platform)
    expect((await send(workspace, 'POST', '/tokens/key_unknown/rotate', {})).status).toBe(404)
  })
})

describe('revokeToken', () => {
  test('200: stops a busy key within a second', async () => {
    const workspace = await buildWorkspace(platform)
    const { key, id } = await buildKey(workspace)
    expect((await send({ key }, 'GET', '/links')).status).toBe(200)
    expect(await as(workspace)(contract.revokeToken, { params: { id } })).toEqual({ id })
    expect(await waitForStatus(key, 401)).toBeLessThan(1_000)
    expect((await send(workspace, 'DELETE', `/tokens/${id}`)).status).toBe(200)
  })

  test('404: an unknown key', async () => {
    const workspace = await buildWorkspace(platform)
    expect((await send(workspace, 'DELETE', '/tokens/key_unknown')).status).toBe(404)
  })
})
