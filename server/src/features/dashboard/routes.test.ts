import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dashboardPages } from './routes.ts'

const page = `<!doctype html>
<html lang="en" data-theme="system"><head><meta property="csp-nonce" nonce="__NONCE__"></head>
<body><script type="module" nonce="__NONCE__" src="/app/assets/main-abc.js"></script></body></html>`
const script = `console.log('${'tributary '.repeat(100)}')`
const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

let folder = ''
const get = (path: string, headers: Record<string, string> = {}) =>
  dashboardPages(folder).request(path, { headers: { ...browser, ...headers } })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tributary-dashboard-'))
  await mkdir(join(folder, 'assets'))
  await writeFile(join(folder, 'index.html'), page)
  await writeFile(join(folder, 'assets/main-abc.js'), script)
  await writeFile(join(folder, 'assets/main-abc.js.br'), brotliCompressSync(script))
  await writeFile(join(folder, 'icon.svg'), '<svg/>')
})
afterAll(() => rm(folder, { recursive: true }))

describe('the root of the API', () => {
  test('sends a browser to the dashboard', async () => {
    const response = await get('/')
    expect([response.status, response.headers.get('location')]).toEqual([302, '/app'])
  })

  test('is not a page for other clients', async () => {
    expect((await get('/', { accept: 'application/json' })).status).toBe(404)
  })
})

describe('the page', () => {
  test.each(['/app', '/app/', '/app/acme/links?search=a.b', '/app/acme/links/link_1'])(
    '%s is the dashboard',
    async (path) => {
      const response = await get(path)
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('main-abc.js')])
    },
  )

  test('runs only scripts and styles with its nonce, which differs in each response', async () => {
    const [one, other] = [await get('/app'), await get('/app')]
    const policy = one.headers.get('content-security-policy') ?? ''
    const nonce = /script-src 'nonce-([\w-]{22})'/.exec(policy)?.[1] ?? ''
    expect((await one.text()).match(/nonce="([^"]+)"/g)).toEqual([`nonce="${nonce}"`, `nonce="${nonce}"`])
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(other.headers.get('content-security-policy')).not.toBe(policy)
    expect(one.headers.get('cache-control')).toBe('no-store')
  })

  test.each([
    [{}, 'lang="en" data-theme="system"'],
    [{ cookie: 'tributary_theme=dark; tributary_language=de' }, 'lang="de" data-theme="dark"'],
    [{ cookie: 'tributary_theme="><script>; tributary_language=xx' }, 'lang="en" data-theme="system"'],
    [{ 'accept-language': 'de-AT,de;q=0.9,en;q=0.5' }, 'lang="de" data-theme="system"'],
    [{ 'accept-language': 'fr,en;q=0.8,de;q=0.5' }, 'lang="en" data-theme="system"'],
    [{ 'accept-language': 'de;q=0' }, 'lang="en" data-theme="system"'],
  ])('%j: %s', async (headers, expected) => {
    expect(await (await get('/app', headers)).text()).toContain(`<html ${expected}>`)
  })
})

describe('the files', () => {
  test('are sent compressed, and may be cached forever', async () => {
    const response = await get('/app/assets/main-abc.js', { 'accept-encoding': 'gzip, br', range: 'bytes=0-3' })
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      vary: expect.stringMatching(/accept-encoding/i),
    })
    expect(brotliDecompressSync(Buffer.from(await response.arrayBuffer())).toString()).toBe(script)
  })

  test('are sent plain to a client that accepts no compression', async () => {
    expect(await (await get('/app/assets/main-abc.js')).text()).toBe(script)
  })

  test.each(['/app/assets/main-old.js', '/app/assets/..%2f..%2f..%2fetc%2fpasswd', '/app/assets/../../package.json'])(
    '%s is missing',
    async (path) => {
      const response = await get(path)
      expect(await response.text()).not.toContain('root:')
      expect([200, 404]).toContain(response.status)
      if (response.status === 200) expect(response.headers.get('content-type')).toContain('text/html')
    },
  )

  test('the icon is an image', async () => {
    expect((await get('/app/icon.svg')).headers.get('content-type')).toMatch(/^image\/svg\+xml/)
  })
})

test('without a built dashboard, the page says how to build it', async () => {
  const response = await dashboardPages(join(folder, 'nowhere')).request('/app/acme', { headers: browser })
  expect([response.status, await response.text()]).toEqual([503, expect.stringContaining('npm run dashboard')])
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
})
