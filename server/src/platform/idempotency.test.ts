import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { openOwnDatabase } from '../../test/own-database.ts'
import { startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { createLink } from '../features/links/service.ts'
import { conflict, forbidden } from './errors.ts'
import { deleteOld, forgetAnswers, requestHash, sealOld, withIdempotency } from './idempotency.ts'
import { savepoint } from './postgres.ts'
import { seal } from './seal.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const url = 'https://example.com/landing'
const hash = requestHash(['POST', '/links'])
const hourMs = 3_600_000

type Call = { key?: string; body?: unknown; api?: string }

async function call(workspace: BuiltWorkspace, method: string, path: string, given: Call = {}) {
  const response = await fetch((given.api ?? api) + path, {
    method,
    headers: {
      authorization: `Bearer ${workspace.key}`,
      ...(given.key !== undefined && { 'idempotency-key': given.key }),
    },
    body: given.body === undefined ? undefined : JSON.stringify(given.body),
  })
  const text = await response.text()
  const answer = JSON.parse(text) as Record<string, unknown> & { error?: { code: string; message: string } }
  return { status: response.status, text, answer, replayed: response.headers.get('idempotency-replayed') }
}

async function linkKeys({ id }: BuiltWorkspace): Promise<string[]> {
  const result = await sql<{ key: string }>`SELECT key FROM links
    WHERE workspace_id = ${id} AND deleted_at IS NULL ORDER BY number`.execute(platform.db)
  return result.rows.map(({ key }) => key)
}

async function listKeys(workspaceId: string, { db } = platform): Promise<string[]> {
  const result = await sql<{ key: string }>`
    SELECT key FROM idempotency_keys WHERE workspace_id = ${workspaceId} ORDER BY key`.execute(db)
  return result.rows.map(({ key }) => key)
}

describe('the header', () => {
  test.each([
    ['nothing', ''],
    ['a letter that is not ASCII', 'schlüssel'],
    ['256 characters', 'x'.repeat(256)],
  ])('with %s is 400', async (_name, key) => {
    const workspace = await buildWorkspace(platform)
    const { status, answer } = await call(workspace, 'POST', '/links', { key, body: { url } })
    expect([status, answer.error?.message]).toEqual([
      400,
      'The header `Idempotency-Key` must have 1 to 255 printable ASCII characters.',
    ])
    expect(await linkKeys(workspace)).toEqual([])
  })

  test('with 255 characters is accepted, including blanks and punctuation', async () => {
    const workspace = await buildWorkspace(platform)
    const key = `a b"'{}\\${'~'.repeat(247)}`
    const first = await call(workspace, 'POST', '/links', { key, body: { url } })
    expect(await call(workspace, 'POST', '/links', { key, body: { url } })).toEqual({ ...first, replayed: 'true' })
  })

  test('is ignored on reads, and without it nothing is stored', async () => {
    const workspace = await buildWorkspace(platform)
    await call(workspace, 'GET', '/links', { key: 'k' })
    await call(workspace, 'POST', '/links', { body: { url, key: 'a' } })
    const { answer, replayed } = await call(workspace, 'GET', '/links', { key: 'k' })
    expect([answer, replayed]).toMatchObject([[{ key: 'a' }], null])
    expect(await listKeys(workspace.id)).toEqual([])
  })
})

describe('the same request again', () => {
  test.each([
    ['POST', '/links', { url, key: 'new' }, 200, ['old', 'new']],
    ['POST', '/tags', { name: 'x' }, 201, ['old']],
    ['PUT', '/links/upsert', { url: 'https://example.com/upserted', key: 'new' }, 200, ['old', 'new']],
    ['PATCH', '/links/ext_old', { comments: 'changed' }, 200, ['old']],
    ['DELETE', '/links/ext_old', undefined, 200, []],
    ['DELETE', '/links/bulk?linkIds=ext_old', undefined, 200, []],
  ])('%s %s is done once and gets the same response twice', async (method, path, body, status, keys) => {
    const workspace = await buildWorkspace(platform)
    await buildLink(platform, workspace, { key: 'old', externalId: 'old' })
    const first = await call(workspace, method, path, { key: 'k', body })
    expect(first).toMatchObject({ status, replayed: null })
    expect(await linkKeys(workspace)).toEqual(keys)
    expect(await call(workspace, method, path, { key: 'k', body })).toEqual({ ...first, replayed: 'true' })
    expect(await linkKeys(workspace)).toEqual(keys)
  })

  test('gets the first response, even an error that would no longer occur', async () => {
    const workspace = await buildWorkspace(platform)
    const taken = await buildLink(platform, workspace, { key: 'a' })
    const first = await call(workspace, 'POST', '/links', { key: 'k', body: { url, key: 'a' } })
    expect([first.status, first.answer.error?.code]).toEqual([409, 'conflict'])
    await call(workspace, 'DELETE', `/links/${taken.id}`)
    const second = await call(workspace, 'POST', '/links', { key: 'k', body: { url, key: 'a' } })
    expect(second).toEqual({ ...first, replayed: 'true' })
  })

  test('can reuse the key of a malformed request', async () => {
    const workspace = await buildWorkspace(platform)
    expect(await call(workspace, 'POST', '/links', { key: 'k', body: {} })).toMatchObject({ status: 400 })
    expect(await call(workspace, 'POST', '/links', { key: 'k', body: { url } })).toMatchObject({ status: 200 })
  })

  test('in another workspace is a different request', async () => {
    const [one, other] = [await buildWorkspace(platform), await buildWorkspace(platform)]
    await call(one, 'POST', '/links', { key: 'k', body: { url, key: 'a' } })
    expect(await call(other, 'POST', '/links', { key: 'k', body: { url, key: 'a' } })).toMatchObject({ replayed: null })
    expect(await linkKeys(other)).toEqual(['a'])
  })
})

test.each([
  ['body', 'POST', '/tags', { name: 'b' }],
  ['path', 'POST', '/folders', { name: 'a' }],
  ['query', 'POST', '/tags?x=1', { name: 'a' }],
  ['method', 'PATCH', '/tags/tag_x', { name: 'a' }],
])('another %s with the same key gets 422 and changes nothing', async (_name, method, path, body) => {
  const workspace = await buildWorkspace(platform)
  await call(workspace, 'POST', '/tags', { key: 'k', body: { name: 'a' } })
  const { status, answer, replayed } = await call(workspace, method, path, { key: 'k', body })
  expect([status, answer.error?.message, replayed]).toEqual([
    422,
    'The `Idempotency-Key` k was used for another request. Use a new key for each request.',
    null,
  ])
  expect((await call(workspace, 'GET', '/tags')).answer).toMatchObject([{ name: 'a' }])
})

describe('nested savepoints', () => {
  test('a bulk call with rejected items creates the other links once', async () => {
    const workspace = await buildWorkspace(platform)
    const body = ['a', 'a', 'b', 'A', 'c'].map((key) => ({ url, key }))
    const first = await call(workspace, 'POST', '/links/bulk', { key: 'k', body })
    const codes = (first.answer as unknown as { code?: string; key?: string }[]).map((item) => item.code ?? item.key)
    expect(codes).toEqual(['a', 'conflict', 'b', 'conflict', 'c'])
    expect(await call(workspace, 'POST', '/links/bulk', { key: 'k', body })).toEqual({ ...first, replayed: 'true' })
    expect(await linkKeys(workspace)).toEqual(['a', 'b', 'c'])
  })

  test('an error after rejected items undoes the whole bulk call', async () => {
    const workspace = await buildWorkspace(platform)
    const work = withIdempotency(contextIn(platform, workspace.id), { key: 'k', hash }, async (ctx) => {
      await savepoint(ctx, (ctx) => createLink(ctx, { url, key: 'a', trackConversion: false }))
      const refused = savepoint(ctx, async (ctx) => {
        await createLink(ctx, { url, key: 'b', trackConversion: false })
        throw conflict('inner')
      })
      await expect(refused).rejects.toThrow('inner')
      throw conflict('outer')
    })
    await expect(work).rejects.toThrow('outer')
    expect(await linkKeys(workspace)).toEqual([])
    expect(await listKeys(workspace.id)).toEqual(['k'])
  })
})

test.each([
  ['a failure', new Error('broken')],
  ['a temporary error', forbidden('too many')],
])('%s is not stored, and its writes are undone', async (_name, problem) => {
  const workspace = await buildWorkspace(platform)
  const context = contextIn(platform, workspace.id)
  const work = withIdempotency(context, { key: 'k', hash }, async (ctx) => {
    await createLink(ctx, { url, key: 'a', trackConversion: false })
    throw problem
  })
  await expect(work).rejects.toThrow(problem.message)
  expect([await linkKeys(workspace), await listKeys(workspace.id)]).toEqual([[], []])
  const again = await withIdempotency(context, { key: 'k', hash }, async () => ({ status: 200, text: '{}' }))
  expect(again).toEqual({ status: 200, text: '{}', isReplayed: false })
})

describe('stored responses are bounded', () => {
  const answer = (bytes: number) => async () => ({ status: 200, text: JSON.stringify('x'.repeat(bytes - 2)) })

  test('a response above 2 MiB is refused, and nothing is changed', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const asked = { key: 'large', hash }
    await withIdempotency(ctx, { key: 'allowed', hash }, answer(2 * 1_048_576))
    const large = withIdempotency(ctx, asked, async (ctx) => {
      await createLink(ctx, { url, key: 'large' })
      return answer(2 * 1_048_576 + 1)()
    })
    await expect(large).rejects.toMatchObject({ status: 422, message: expect.stringContaining('2097153 bytes') })
    expect(await linkKeys(workspace)).toEqual([])
  })

  test('a workspace at its storage limit gets 403, a repeated request its response, other workspaces are unaffected', async () => {
    const workspace = await buildWorkspace(platform)
    const config = { ...platform.config, IDEMPOTENCY_STORAGE_MEGABYTES: 1 }
    const ctx = { ...contextIn(platform, workspace.id), config }
    for (let count = 0; count < 10; count++) await withIdempotency(ctx, { key: `key ${count}`, hash }, answer(100_000))
    const refused = () => withIdempotency(ctx, { key: 'one more', hash }, answer(100))
    await expect(refused()).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining('IDEMPOTENCY_STORAGE_MEGABYTES'),
    })
    expect(await withIdempotency(ctx, { key: 'key 0', hash }, answer(1))).toMatchObject({
      status: 200,
      isReplayed: true,
    })
    const other = await buildWorkspace(platform)
    const neighbour = { ...contextIn(platform, other.id), config }
    expect(await withIdempotency(neighbour, { key: 'one more', hash }, answer(100))).toMatchObject({ status: 200 })
  })
})

test('a key expires after a day', async () => {
  const own = await openOwnDatabase()
  const workspace = await buildWorkspace(own)
  let now = new Date('2026-03-01T00:00:00Z')
  const context = { ...contextIn(own, workspace.id), now: () => now }
  const answers = ['"first"', '"second"', '"third"']
  const ask = () =>
    withIdempotency(context, { key: 'k', hash }, async () => ({ status: 200, text: answers.shift() ?? '' }))
  expect(await ask()).toMatchObject({ text: '"first"', isReplayed: false })
  now = new Date(now.getTime() + 24 * hourMs - 1)
  expect(await ask()).toMatchObject({ text: '"first"', isReplayed: true })
  expect(await deleteOld(context)).toBe(0)
  now = new Date(now.getTime() + 1)
  expect(await ask()).toMatchObject({ text: '"second"', isReplayed: false })
  expect(await deleteOld(context)).toBe(0)
  now = new Date(now.getTime() + 24 * hourMs)
  expect(await deleteOld(context)).toBe(1)
  expect(await listKeys(workspace.id, own)).toEqual([])
})

test("visitors' idempotency keys are separate from those of the server", async () => {
  const workspace = await buildWorkspace(platform)
  const server = contextIn(platform, workspace.id)
  const page = { ...server, actor: { ...server.actor, kind: 'key' as const, isPublishable: true } }
  const answer = (text: string) => async () => ({ status: 200, text: JSON.stringify(text) })
  await withIdempotency(page, { key: 'k', hash: requestHash(['other']) }, answer('page'))
  expect(await withIdempotency(server, { key: 'k', hash }, answer('server'))).toMatchObject({
    text: '"server"',
    isReplayed: false,
  })
})

describe('stored answers', () => {
  const storedIn = async (workspaceId: string) => {
    const result = await sql`SELECT i::text FROM idempotency_keys i WHERE workspace_id = ${workspaceId}`.execute(
      platform.db,
    )
    return JSON.stringify(result.rows)
  }

  test('are encrypted: no row contains the link password', async () => {
    const workspace = await buildWorkspace(platform)
    const body = { url, password: 'open-sesame' }
    const first = await call(workspace, 'POST', '/links', { key: 'k', body })
    expect(first.answer.password).toBe('open-sesame')
    const stored = await storedIn(workspace.id)
    expect(stored).not.toContain('open-sesame')
    expect(stored).not.toContain(String(first.answer.id))
    expect(await call(workspace, 'POST', '/links', { key: 'k', body })).toEqual({ ...first, replayed: 'true' })
  })

  test('of an error are encrypted too', async () => {
    const workspace = await buildWorkspace(platform)
    const body = { url, folderId: 'fold_secret-name' }
    const first = await call(workspace, 'POST', '/links', { key: 'k', body })
    expect([first.status, first.text]).toEqual([expect.any(Number), expect.stringContaining('fold_secret-name')])
    expect(await storedIn(workspace.id)).not.toContain('secret-name')
    expect(await call(workspace, 'POST', '/links', { key: 'k', body })).toMatchObject({ text: first.text })
  })

  test('in clear text from an earlier release are returned, then encrypted by the worker', async () => {
    const workspace = await buildWorkspace(platform)
    const context = contextIn(platform, workspace.id)
    const text = '{"id":"c1","password":"open-sesame"}'
    const sealedBefore = seal(platform.config.ENCRYPTION_KEYS, `answer ${workspace.id}`, '{"secret":"s"}')
    for (const [key, response] of Object.entries({ clear: text, secret: sealedBefore.toString('base64') })) {
      await sql`INSERT INTO idempotency_keys (workspace_id, key, request_hash, status, response)
        VALUES (${workspace.id}, ${key}, ${hash}, 200, ${response})`.execute(platform.db)
    }
    const again = async (key: string) => (await withIdempotency(context, { key, hash }, async () => failed())).text
    expect([await again('clear'), await again('secret')]).toEqual([text, '{"secret":"s"}'])
    expect(await sealOld(platform, { workspaceId: workspace.id, count: 100 })).toBe(2)
    expect(await storedIn(workspace.id)).not.toContain('sesame')
    expect([await again('clear'), await again('secret')]).toEqual([text, '{"secret":"s"}'])
    await forgetAnswers(context, ['c1'])
    expect(await again('clear')).toContain('was erased')
  })

  test('that contain an erased id are no longer returned, errors are deleted, other responses stay', async () => {
    const workspace = await buildWorkspace(platform)
    const context = contextIn(platform, workspace.id)
    const stored = { a: '{"id":"c1"}', b: '{"id":"c11"}', c: '[{"email":"x\\"y"}]', d: '{"note":"c1 too"}' }
    for (const [key, text] of Object.entries(stored))
      await withIdempotency(context, { key, hash }, async () => ({ status: 200, text }))
    const refuse = async () => {
      throw conflict('There is no customer ext_c1.')
    }
    await expect(withIdempotency(context, { key: 'e', hash }, refuse)).rejects.toThrow()
    await forgetAnswers(context, ['c1', 'x"y'])
    expect(await listKeys(workspace.id)).toEqual(['a', 'b', 'c', 'd'])
    const again = async (key: string) => {
      const { status, text } = await withIdempotency(context, { key, hash }, async () => failed())
      return [status, text]
    }
    for (const key of ['a', 'c']) expect(await again(key)).toEqual([409, expect.stringContaining('was erased')])
    for (const key of ['b', 'd'] as const) expect(await again(key)).toEqual([200, stored[key]])
  })

  function failed(): never {
    throw new Error('the work was done again')
  }
})

describe('concurrent duplicates', () => {
  test('50 calls create one link and get equal responses, here and in a second process', async () => {
    const workspace = await buildWorkspace(platform)
    const second = await startServer({ ...inject('environment'), ROLES: 'api', POSTGRES_POOL: '3' })
    onTestFinished(async () => void (await second.stop()))
    const twins = Array.from({ length: 50 }, (_, index) =>
      call(workspace, 'POST', '/links', { key: 'k', body: { url }, api: index % 2 === 0 ? api : second.api }),
    )
    const answers = await Promise.all(twins)
    expect(new Set(answers.map(({ status, text }) => `${status} ${text.replaceAll(second.api, api)}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1)
    expect(await linkKeys(workspace)).toHaveLength(1)
  })

  test("when the first one's connection breaks, the second does the work", async () => {
    const workspace = await buildWorkspace(platform)
    const second = await startServer({ ...inject('environment'), ROLES: 'api' })
    onTestFinished(async () => void (await second.stop()))
    const key = `crash-${randomUUID()}`
    const body = { url, key: 'wanted' }
    // A concurrent insert of the same key blocks the first request in the middle of its work.
    const started = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const holder = platform.db.transaction().execute(async (db) => {
      await createLink({ ...contextIn(platform, workspace.id), db }, { ...body, trackConversion: false })
      release.resolve()
      await started.promise
      throw new Error('given up')
    })
    holder.catch(() => {})
    await release.promise
    const first = call(workspace, 'POST', '/links', { key, body })
    const firstPid = await eventually(async () => waiting('%INSERT INTO links ('))
    const twin = call(workspace, 'POST', '/links', { key, body, api: second.api })
    await eventually(async () => waiting('%INSERT INTO idempotency_keys'))
    await sql`SELECT pg_terminate_backend(${firstPid})`.execute(platform.db)
    expect(await first).toMatchObject({ status: 500 })
    started.resolve()
    const { status, replayed, text } = await twin
    expect([status, replayed]).toEqual([200, null])
    const again = await call(workspace, 'POST', '/links', { key, body })
    expect(again).toMatchObject({ status: 200, text, replayed: 'true' })
    expect(await linkKeys(workspace)).toEqual(['wanted'])
  })
})

async function waiting(statement: string): Promise<number> {
  const result = await sql<{ pid: number }>`SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE ${`${statement}%`}`.execute(
    platform.db,
  )
  if (result.rows.length !== 1) throw new Error(`${result.rows.length} connections wait in ${statement}`)
  return result.rows[0]?.pid as number
}
