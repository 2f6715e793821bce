import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { openRedirect } from './service.ts'

const folder = await mkdtemp(join(tmpdir(), 'tributary-redirect-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const visitor = {
  ip: '192.0.2.1',
  userAgent: browser,
  referer: '',
  purpose: '',
  location: { country: '', region: '', city: '', continent: '' },
}

test('the roles of a process share one redirect, until the last of them stops', async () => {
  const platform = await openTestPlatform({ SPOOL_DIRECTORY: join(folder, 'both') })
  const workspace = await buildWorkspace(platform)
  const { domain, key } = await buildLink(platform, workspace)
  const [api, redirect] = await Promise.all([openRedirect(platform), openRedirect(platform)])
  await api[Symbol.asyncDispose]()
  const found = await redirect.openLink(domain, key)
  expect(found).toMatchObject({ domain, link: { key } })
  const id = found && (await redirect.report(found.link, visitor, 'link'))
  expect(id).toMatch(/^[\w-]{40}$/)
  await redirect[Symbol.asyncDispose]()
  const again = await openRedirect(platform)
  expect(found && (await again.report(found.link, visitor, 'link'))).toBe(id)
  await again[Symbol.asyncDispose]()
})

test.each([
  ['api', 'page-clicks'],
  ['redirect', 'clicks'],
  ['api,redirect', 'clicks'],
])('a process with the roles %s has its click spool in %s', async (roles, name) => {
  const directory = join(folder, roles)
  const platform = await openTestPlatform({ SPOOL_DIRECTORY: directory, ROLES: roles })
  await using _redirect = await openRedirect(platform)
  expect(await readdir(directory)).toEqual([name, `${name}.lock`])
})
