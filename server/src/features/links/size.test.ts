import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const workspace = await buildWorkspace(platform)
const url = 'https://example.com/'
const long = (length: number) => `${url}${'x'.repeat(length)}`
const countries = (count: number, length: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26)),
      long(length),
    ]),
  )

async function call({ key }: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(api + path, { method, headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as { error?: { message: string }; geo?: object }
  return { status: response.status, message: answer.error?.message, answer }
}

describe('a link of more than 64 kB in total', () => {
  const message = expect.stringMatching(
    /^The link has \d{5,6} bytes in total, more than the 65536 of LINK_MAX_BYTES\. Shorten `geo` in the body, which has \d{5}\.$/,
  )

  test('a link over the limit is not created or upserted, and an update can not exceed the limit', async () => {
    const body = { url: long(20_000), geo: countries(5, 10_000) }
    const { id } = await buildLink(platform, workspace, { url: long(20_000) })
    const answers = [
      await call(workspace, 'POST', '/links', body),
      await call(workspace, 'PUT', '/links/upsert', body),
      await call(workspace, 'PATCH', `/links/${id}`, { geo: body.geo }),
    ]
    expect(answers).toMatchObject(answers.map(() => ({ status: 422, message })))
  })

  test('a link over the limit is refused in a bulk request, and the others are created', async () => {
    const { answer } = await call(workspace, 'POST', '/links/bulk', [
      { url },
      { url: long(20_000), geo: countries(5, 10_000) },
    ])
    expect(answer).toMatchObject([{ url }, { code: 'unprocessable_entity', error: message }])
  })

  test('a link that is older than the limit and exceeds it may shrink', async () => {
    const { id } = await buildLink(platform, workspace)
    const geo = JSON.stringify(countries(10, 10_000))
    await sql`UPDATE links SET geo = ${geo}::jsonb WHERE id = ${id}`.execute(platform.db)
    expect(await call(workspace, 'PATCH', `/links/${id}`, { title: 'longer' })).toMatchObject({ status: 422 })
    expect(await call(workspace, 'PATCH', `/links/${id}`, { archived: true })).toMatchObject({ status: 200 })
    expect(await call(workspace, 'PATCH', `/links/${id}`, { geo: countries(9, 10_000) })).toMatchObject({ status: 200 })
    expect(await call(workspace, 'PATCH', `/links/${id}`, { geo: countries(2, 10_000) })).toMatchObject({ status: 200 })
  })
})

test('a link just below the limit is created; its size is counted in bytes, not in characters', async () => {
  const fits = { url, geo: countries(2, 30_000) }
  expect(await call(workspace, 'POST', '/links', fits)).toMatchObject({ status: 200 })
  const wide = { url, comments: '€'.repeat(9_000), geo: { DE: long(20_000), FR: long(20_000) } }
  expect(await call(workspace, 'POST', '/links', wide)).toMatchObject({ status: 422 })
})

test('a link with more than 250 country targets is refused', async () => {
  const answer = await call(workspace, 'POST', '/links', { url, geo: countries(251, 10) })
  expect(answer).toMatchObject({ status: 422, message: expect.stringContaining('more than 250 countries') })
  expect(await call(workspace, 'POST', '/links', { url, geo: countries(250, 10) })).toMatchObject({ status: 200 })
})
