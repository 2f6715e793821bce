import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { mmdb } from '../../../test/mmdb.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { start } from '../../roles/redirect.ts'

const folder = await mkdtemp(join(tmpdir(), 'tributary-redirect-geo-'))
const file = join(folder, 'places.mmdb')
await writeFile(file, mmdb({ '203.0.113.0/24': { country: { iso_code: 'DE' } } }))
const platform = await openTestPlatform({
  TRUSTED_PROXIES: '127.0.0.1',
  REDIRECT_PORT: '0',
  SPOOL_DIRECTORY: folder,
  GEO_DATABASE: file,
})
const role = await start(platform)
afterAll(async () => {
  await role[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

test('a country that no proxy sends comes from the geo database', async () => {
  const workspace = await buildWorkspace(platform)
  const { id, key } = await buildLink(platform, workspace, { key: 'by-place', url: 'https://example.com/all' })
  await sql`UPDATE links SET geo = '{"DE": "https://example.com/de"}' WHERE id = ${id}`.execute(platform.db)
  const open = async (headers: Record<string, string>) => {
    const all = { host: workspace.domain, 'user-agent': browser, ...headers }
    return (await visit(`http://127.0.0.1:${role.port}/${key}`, all)).headers.location
  }
  expect(await open({ 'x-forwarded-for': '203.0.113.9' })).toBe('https://example.com/de')
  expect(await open({ 'x-forwarded-for': '198.51.100.9' })).toBe('https://example.com/all')
  expect(await open({ 'x-forwarded-for': '203.0.113.9', 'cf-ipcountry': 'FR' })).toBe('https://example.com/all')
  expect(await open({ 'x-forwarded-for': '198.51.100.9', 'cf-ipcountry': 'DE' })).toBe('https://example.com/de')
})
