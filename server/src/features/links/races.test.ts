import { createClient } from '@tributary/contract/client'
import * as contract from '@tributary/contract/links'
import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { keyProblem, normalKey } from './key.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')

test('the redirect, info and search find every accepted key', async () => {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const character = fc.oneof(
    fc.constantFrom(...'aZ09-_./~!$\'()*+,;:@&="<>^`{|}[]'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  )
  const keys = fc
    .array(character, { minLength: 1, maxLength: 24 })
    .map((parts) => normalKey(parts.join('')))
    .filter((key) => key.length <= 190 && keyProblem(key) === undefined)
  await fc.assert(
    fc.asyncProperty(keys, async (key) => {
      const url = `https://example.com/${encodeURIComponent(key)}`
      const link = await call(contract.upsertLink, { body: { url, key } })
      const answer = await visit(`${redirect}/${encodeURI(link.key).replaceAll(/[#?]/g, encodeURIComponent)}`, {
        host: workspace.domain,
      })
      expect([answer.status, answer.headers.location], key).toEqual([302, new URL(url).href])
      const shortLink = new URL(link.shortLink)
      expect((await visit(redirect + shortLink.pathname, { host: workspace.domain })).status, link.shortLink).toBe(302)
      const found = await call(contract.getLink, {
        query: { domain: workspace.domain, key: key.toUpperCase().toLowerCase() === key ? key.toUpperCase() : key },
      })
      expect(found.id).toBe(link.id)
      const listed = [1, 2].map((page) => call(contract.listLinks, { query: { search: key, page } }))
      expect(
        (await Promise.all(listed)).flat().map((item) => item.id),
        key,
      ).toContain(link.id)
    }),
    { numRuns: 150, examples: [['İ!']] },
  )
}, 180_000)

test('20 concurrent writers keep keys and external ids unique', async () => {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const names = ['one', 'two', 'Two', 'three', 'ünï', 'ÜNÏ', 'a/b', 'A/B']
  const externals = ['x1', 'x2', 'x3', 'x4']
  const refused: string[] = []
  async function writer(seed: number): Promise<void> {
    const pick = <T>(items: T[], salt: number): T => items[(seed * 31 + salt * 17) % items.length] as T
    for (let step = 0; step < 12; step++) {
      const [key, externalId] = [pick(names, step), pick(externals, step * 3)]
      const actions = [
        () => call(contract.createLink, { body: { url: 'https://example.com/', key, externalId } }),
        () => call(contract.createLink, { body: { url: 'https://example.com/', key } }),
        () => call(contract.updateLink, { params: { linkId: `ext_${externalId}` }, body: { key } }),
        () =>
          call(contract.updateLink, {
            params: { linkId: `ext_${externalId}` },
            body: { externalId: pick(externals, step) },
          }),
        () => call(contract.upsertLink, { body: { url: `https://example.com/${key.length}`, key } }),
        () => call(contract.deleteLink, { params: { linkId: `ext_${externalId}` } }),
        () =>
          call(contract.bulkCreateLinks, {
            body: [
              { url: 'https://example.com/', key },
              { url: 'https://example.com/', externalId },
            ],
          }),
      ]
      await pick(actions, step * 7 + seed)().catch((error) => refused.push(`${error.status}`))
    }
  }
  await Promise.all(Array.from({ length: 20 }, (_, seed) => writer(seed)))
  expect(refused.filter((status) => !['404', '409'].includes(status))).toEqual([])
  const doubles =
    await sql`SELECT domain, lookup_key FROM links WHERE workspace_id = ${workspace.id} AND deleted_at IS NULL
    GROUP BY 1, 2 HAVING count(*) > 1`.execute(platform.db)
  const doubleIds = await sql`SELECT external_id FROM links WHERE workspace_id = ${workspace.id} AND deleted_at IS NULL
    AND external_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1`.execute(platform.db)
  expect([doubles.rows, doubleIds.rows]).toEqual([[], []])
})

test('concurrent upserts of the same URL create one link', async () => {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const made = await Promise.all(
    Array.from({ length: 20 }, () =>
      call(contract.upsertLink, { body: { url: 'https://example.com/same', utm_source: 'race' } }),
    ),
  )
  expect(new Set(made.map((link) => link.id)).size).toBe(1)
})

test('a bulk request with seven invalid of 100 links creates 93 and returns errors at the seven indexes', async () => {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  await call(contract.createLink, { body: { url: 'https://example.com/', key: 'taken', externalId: 'taken' } })
  const bad: Record<number, object> = {
    3: { url: 'not a url' },
    14: {},
    25: { url: 'https://example.com/', key: 'TAKEN' },
    36: { url: 'https://example.com/', externalId: 'taken' },
    47: { url: 'https://example.com/', domain: 'not-mine.example' },
    58: { url: 'https://example.com/', tagIds: ['tag_unknown'] },
    69: { url: 42 },
  }
  const body = Array.from(
    { length: 100 },
    (_, index) => bad[index] ?? { url: `https://example.com/${index}`, key: `bulk-${index}` },
  )
  const answer = await call(contract.bulkCreateLinks, { body })
  expect(answer).toHaveLength(100)
  const errors = answer.flatMap((item, index) => ('code' in item ? [[index, item.code]] : []))
  expect(errors).toEqual([
    [3, 'unprocessable_entity'],
    [14, 'bad_request'],
    [25, 'conflict'],
    [36, 'conflict'],
    [47, 'not_found'],
    [58, 'unprocessable_entity'],
    [69, 'bad_request'],
  ])
  for (const [index, item] of answer.entries())
    if (!(index in bad)) expect(item).toMatchObject({ key: `bulk-${index}` })
  expect(await call(contract.countLinks)).toBe(94)
})

test('two bulk requests with the same keys in opposite order both succeed, without a 500', async () => {
  const workspace = await buildWorkspace(platform)
  const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`)
  const send = async (order: string[]) => {
    const response = await fetch(`${api}/links/bulk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}` },
      body: JSON.stringify(order.map((key) => ({ url: 'https://example.com/', key }))),
    })
    const outcomes = (await response.json()) as { id?: string; code?: string }[]
    return { status: response.status, outcomes }
  }
  const answers = await Promise.all([send(keys), send(keys.toReversed()), send(keys), send(keys.toReversed())])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const outcomes = answers.flatMap((answer) => answer.outcomes)
  expect(outcomes.filter(({ id }) => id)).toHaveLength(keys.length)
  expect(outcomes.filter(({ code }) => code === 'conflict')).toHaveLength(3 * keys.length)
}, 180_000)
