import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { contextReader, createToken, listTokens, revoke } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function readRow(id: string): Promise<Record<string, unknown>> {
  const result = await sql<Record<string, unknown>>`SELECT * FROM tokens WHERE id = ${id}`.execute(platform.db)
  return result.rows[0] ?? {}
}

/** Authenticates a key as a process that has not cached it yet. */
function ask(key: string, now = platform.now) {
  return contextReader()({ ...platform, now }, { authorization: `Bearer ${key}`, page: '' })
}

describe('createToken', () => {
  test('returns the key once, with its prefix and last four characters', async () => {
    const { id: workspaceId } = await buildWorkspace(platform)
    const token = await createToken(platform, { workspaceId, name: 'mine' })
    expect(token).toMatchObject({ workspace_id: workspaceId, name: 'mine', expires_at: null, revoked_at: null })
    expect(token.id).toMatch(/^key_/)
    expect(token.key).toMatch(/^trib_[A-Za-z0-9]{32}$/)
    expect(token.prefix).toBe(token.key.slice(0, 8))
    expect(token.last_four).toBe(token.key.slice(-4))
  })

  test('stores nothing that reveals the key', async () => {
    const { id: workspaceId } = await buildWorkspace(platform)
    const { id, key } = await createToken(platform, { workspaceId, name: 'mine' })
    const row = await readRow(id)
    const stored = Object.values(row).map((value) =>
      Buffer.isBuffer(value) ? value.toString('latin1') : String(value),
    )
    for (const text of stored) {
      expect(text).not.toContain(key)
      expect(text).not.toContain(key.slice(5))
      expect(text).not.toContain(Buffer.from(key).toString('hex'))
      expect(text).not.toContain(Buffer.from(key).toString('base64url'))
    }
    expect(row.hash).toHaveLength(32)
    expect(await listTokens(platform, workspaceId)).not.toContainEqual(
      expect.objectContaining({ key: expect.anything() }),
    )
    expect(JSON.stringify(await listTokens(platform, workspaceId))).not.toContain(key)
  })

  test('grants all scopes by default', async () => {
    const { id: workspaceId } = await buildWorkspace(platform)
    expect((await createToken(platform, { workspaceId, name: 'all' })).scopes).toEqual(['apis.all'])
    const limited = await createToken(platform, { workspaceId, name: 'few', scopes: ['links.read', 'analytics.read'] })
    expect(limited.scopes).toEqual(['links.read', 'analytics.read'])
    expect((await ask(limited.key)).actor).toEqual({
      kind: 'key',
      id: limited.id,
      scopes: ['links.read', 'analytics.read'],
      isPublishable: false,
    })
  })

  test('never returns the same key twice', async () => {
    const { id: workspaceId } = await buildWorkspace(platform)
    const tokens = await Promise.all(
      Array.from({ length: 50 }, () => createToken(platform, { workspaceId, name: 'n' })),
    )
    expect(new Set(tokens.map(({ key }) => key)).size).toBe(50)
  })
})

test('a workspace lists its own keys only, oldest first', async () => {
  const [ours, theirs] = [await buildWorkspace(platform), await buildWorkspace(platform)]
  const second = await createToken(platform, { workspaceId: ours.id, name: 'second' })
  expect((await listTokens(platform, ours.id)).map(({ id }) => id)).toEqual([ours.keyId, second.id])
  expect((await listTokens(platform, theirs.id)).map(({ id }) => id)).toEqual([theirs.keyId])
})

describe('contextReader', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR  '])('accepts the scheme %j', async (scheme) => {
    const workspace = await buildWorkspace(platform, { plan: 'business' })
    const context = await contextReader()(platform, { authorization: `${scheme} ${workspace.key}`, page: '' })
    expect(context).toMatchObject({
      workspaceId: workspace.id,
      plan: 'business',
      actor: { kind: 'key', id: workspace.keyId, scopes: ['apis.all'] },
    })
  })

  test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'Bearer a b', 'Bearertrib_1', 'trib_1'])(
    '%j is not a key',
    async (authorization) => {
      await expect(contextReader()(platform, { authorization, page: '' })).rejects.toMatchObject({
        code: 'unauthorized',
        message: 'No API key or access token was sent. Send the header `Authorization: Bearer <API_KEY>`.',
      })
    },
  )

  test('an unknown key is refused, even if it differs in a single letter or its case', async () => {
    const { key } = await buildWorkspace(platform)
    const last = key.slice(-1) === 'a' ? 'b' : 'a'
    for (const unknown of ['x', key.slice(0, -1) + last, key.slice(0, -1), `${key}a`, key.toUpperCase()]) {
      await expect(ask(unknown)).rejects.toMatchObject({
        code: 'unauthorized',
        message: 'This API key or access token is not known. Check it for typing errors, or create a new one.',
      })
    }
  })

  test('an expired key is refused from that moment on', async () => {
    const expiresAt = new Date('2030-01-01T00:00:00.000Z')
    const { key } = await buildWorkspace(platform, { expiresAt })
    await expect(ask(key, () => new Date(expiresAt.getTime() - 1))).resolves.toBeDefined()
    await expect(ask(key, () => expiresAt)).rejects.toMatchObject({
      code: 'unauthorized',
      message: 'This API key expired at 2030-01-01T00:00:00.000Z. Create a new one.',
    })
  })

  test('a key that expires while it is cached stops working at its expiry', async () => {
    const expiresAt = new Date('2030-01-01T00:00:00.000Z')
    const { key } = await buildWorkspace(platform, { expiresAt })
    const read = contextReader()
    const credentials = { authorization: `Bearer ${key}`, page: '' }
    const at = (ms: number) => read({ ...platform, now: () => new Date(expiresAt.getTime() + ms) }, credentials)
    await expect(at(-1)).resolves.toBeDefined()
    await expect(at(0)).rejects.toMatchObject({ code: 'unauthorized' })
  })

  test('a failed lookup of a key is not cached', async () => {
    const { key, id } = await buildWorkspace(platform)
    const read = contextReader()
    const credentials = { authorization: `Bearer ${key}`, page: '' }
    const broken = { ...platform, db: (await openTestPlatform({ POSTGRES_URL: 'postgres://127.0.0.1:1/none' })).db }
    await expect(read(broken, credentials)).rejects.toThrow()
    await expect(read(platform, credentials)).resolves.toMatchObject({ workspaceId: id })
  })
})

describe('revoke', () => {
  test('stops a busy key within a second, on a server that has cached it', async () => {
    const { key, keyId } = await buildWorkspace(platform)
    const status = async () =>
      (await fetch(`${api}/links?pageSize=1`, { headers: { authorization: `Bearer ${key}` } })).status
    expect(await status()).toBe(200)
    await revoke(platform, keyId)
    const started = performance.now()
    // Uses the key without pause, because a cache hit must not extend the entry's lifetime.
    while ((await status()) === 200 && performance.now() - started < 3_000) await sleep(20)
    expect(performance.now() - started).toBeLessThan(1_000)
    const refused = await fetch(`${api}/links`, { headers: { authorization: `Bearer ${key}` } })
    expect(await refused.json()).toMatchObject({
      error: { code: 'unauthorized', message: 'This API key has been revoked. Create a new one.' },
    })
  })

  test('keeps the time of the first revocation', async () => {
    const { keyId } = await buildWorkspace(platform)
    const first = await revoke(platform, keyId)
    expect(first.revoked_at).toBeInstanceOf(Date)
    expect((await revoke(platform, keyId)).revoked_at).toEqual(first.revoked_at)
  })

  test('fails for an unknown id and names the command that lists key ids', async () => {
    await expect(revoke(platform, 'key_none')).rejects.toMatchObject({
      code: 'not_found',
      message: 'There is no key key_none. `tributary key list` shows the ids.',
    })
  })
})

describe('the time of the last use', () => {
  const lastUsed = async (id: string) => (await readRow(id)).last_used_at as Date | null

  test('is null before the first use of a key, and set by it', async () => {
    const { key, keyId } = await buildWorkspace(platform)
    expect(await lastUsed(keyId)).toBeNull()
    await ask(key)
    expect(await lastUsed(keyId)).toBeInstanceOf(Date)
  })

  test('is written at most once a minute', async () => {
    const { key, keyId } = await buildWorkspace(platform)
    const usedAgo = async (seconds: number) => {
      await sql`UPDATE tokens SET last_used_at = now() - make_interval(secs => ${seconds}) WHERE id = ${keyId}`.execute(
        platform.db,
      )
      const before = await lastUsed(keyId)
      await ask(key)
      const after = await eventually(() => lastUsed(keyId))
      return after?.getTime() !== before?.getTime()
    }
    expect(await usedAgo(1)).toBe(false)
    expect(await usedAgo(58)).toBe(false)
    expect(await usedAgo(61)).toBe(true)
  })
})
