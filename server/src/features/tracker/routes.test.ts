import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, inject, test } from 'vitest'
import { trackerScripts } from './routes.ts'
import { readTracker, scriptTag } from './service.ts'

const { api } = inject('server')
const { script } = await readTracker()
const lasting = `/tracker.${script.hash}.js`

describe.each([
  ['/tracker.js', 'public, max-age=3600'],
  ['/tracker.mjs', 'public, max-age=3600'],
  [lasting, 'public, max-age=31536000, immutable'],
])('GET %s', (path, cacheControl) => {
  test('the tracker script can be loaded and cached by every page', async () => {
    const response = await fetch(api + path)
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': cacheControl,
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-encoding': 'gzip',
    })
    expect((await response.text()).length).toBeGreaterThan(500)
  })

  test('the tracker script is revalidated with 304', async () => {
    const etag = (await fetch(api + path)).headers.get('etag') ?? ''
    expect((await fetch(api + path, { headers: { 'if-none-match': `"other", W/${etag}` } })).status).toBe(304)
  })

  test('the tracker script is uncompressed for a client without gzip support', async () => {
    const response = await fetch(api + path, { headers: { 'accept-encoding': 'identity' } })
    expect(response.headers.get('content-encoding')).toBeNull()
  })
})

test('a tracker script with an unknown hash is not found', async () => {
  expect((await fetch(`${api}/tracker.0000000000000000.js`)).status).toBe(404)
})

test('the tracker script of an earlier release stays at its URL', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-released-'))
  await writeFile(join(folder, '0.1.0.js'), 'earlier')
  const hash = createHash('sha256').update('earlier').digest('hex').slice(0, 16)
  const app = trackerScripts(await readTracker(pathToFileURL(`${folder}/`)))
  const response = await app.request(`/tracker.${hash}.js`)
  expect([response.status, await response.text()]).toEqual([200, 'earlier'])
  await rm(folder, { recursive: true })
})

test('the script tag has the permanent URL and the integrity hash of the current tracker script', async () => {
  const bytes = Buffer.from(await (await fetch(api + lasting)).arrayBuffer())
  const integrity = `sha384-${createHash('sha384').update(bytes).digest('base64')}`
  expect(scriptTag('https://api.example.com', script)).toBe(
    `<script defer src="https://api.example.com${lasting}" integrity="${integrity}" crossorigin="anonymous"></script>`,
  )
})
