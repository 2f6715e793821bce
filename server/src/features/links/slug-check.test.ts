import { createClient } from '@tributary/contract/client'
import { createLink } from '@tributary/contract/links'
import { checkSlug } from '@tributary/contract/slug-check'
import { describe, expect, inject, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { deleteLink } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

async function setUp() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const check = (key: string, domain?: string) => call(checkSlug, { query: { key, ...(domain && { domain }) } })
  return { workspace, call, check }
}

test('200: a free slug on the primary domain is available', async () => {
  const { workspace, check } = await setUp()
  expect(await check('/Cafe\u0301/')).toEqual({
    ...{ domain: workspace.domain, key: 'Café', isAvailable: true },
    ...{ problem: null, message: null, suggestion: null },
  })
})

test('200: a taken slug comes with the next free one, and is available again after its deletion', async () => {
  const { workspace, check } = await setUp()
  const { id } = await buildLink(platform, workspace, { key: 'Sale' })
  await buildLink(platform, workspace, { key: 'sale-2' })
  expect(await check('SALE')).toEqual({
    ...{ domain: workspace.domain, key: 'SALE', isAvailable: false, problem: 'taken' },
    ...{ message: `${workspace.domain}/SALE is already taken.`, suggestion: 'SALE-3' },
  })
  await deleteLink(contextIn(platform, workspace.id), id)
  expect(await check('sale')).toMatchObject({ isAvailable: true })
})

describe.each([
  ['two words', 'invalid', 'two-words'],
  ['a//b', 'invalid', 'a/b'],
  ['../up', 'invalid', 'up'],
  ['_hidden', 'invalid', 'hidden'],
  ['50%', 'invalid', '50'],
  ['x'.repeat(300), 'invalid', 'x'.repeat(180)],
  ['robots.txt', 'reserved', 'robots.txt-2'],
  ['/', 'invalid', expect.stringMatching(/^\w{7}$/)],
  ['?#', 'invalid', expect.stringMatching(/^\w{7}$/)],
])('the slug %j', (key, problem, suggestion) => {
  test(`200: is ${problem}, and POST /links refuses it, but takes the suggestion`, async () => {
    const { call, check } = await setUp()
    const answer = await check(key)
    expect(answer).toMatchObject({
      isAvailable: false,
      problem,
      suggestion,
      message: expect.stringMatching(/^The slug /),
    })
    const url = 'https://example.com/'
    await expect(call(createLink, { body: { url, key } })).rejects.toMatchObject({ code: expect.any(String) })
    expect(await call(createLink, { body: { url, key: answer.suggestion ?? '' } })).toMatchObject({ key: suggestion })
  })
})

test('200: on the shared domain, slugs of other workspaces are taken and names of the whole host are reserved', async () => {
  const [{ workspace }, { check }] = [await setUp(), await setUp()]
  const domain = platform.config.SHORT_DOMAIN
  const { key } = await buildLink(platform, workspace, { domain, key: `theirs-${workspace.slug}` })
  expect(await check(key, domain)).toMatchObject({ problem: 'taken', suggestion: `${key}-2` })
  expect(await check('ads.txt', domain)).toMatchObject({ problem: 'reserved' })
  expect(await check('ads.txt')).toMatchObject({ isAvailable: true })
})

test('404: for a domain of another workspace, as POST /links says', async () => {
  const [{ workspace }, { check }] = [await setUp(), await setUp()]
  await expect(check('a', workspace.domain)).rejects.toMatchObject({
    status: 404,
    message: `There is no domain ${workspace.domain} in this workspace.`,
  })
})
