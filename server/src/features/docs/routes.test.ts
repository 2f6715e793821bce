import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { operations } from '@tributary/contract/index'
import { errorCodes, errorStatuses } from '@tributary/contract/operation'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { readConfig } from '../../platform/config.ts'
import type { App } from '../../platform/http.ts'
import { docsPages } from './routes.ts'

const { api } = inject('server')
const committed = new URL('../../../../contract/openapi.json', import.meta.url)
const config = readConfig(inject('environment'))

type Document = {
  openapi: string
  info: { version: string }
  servers: unknown
  paths: Record<string, Record<string, { operationId: string }>>
}

async function page(path: string) {
  const response = await fetch(api + path)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

describe('/openapi.json', () => {
  test("/openapi.json is the committed document with this server's URL", async () => {
    const { status, type, text } = await page('/openapi.json')
    expect({ status, type }).toEqual({ status: 200, type: 'application/json' })
    const { servers, ...document } = JSON.parse(text) as Document
    const { servers: _, ...expected } = JSON.parse(await readFile(committed, 'utf8')) as Document
    expect(document).toEqual(expected)
    expect(servers).toEqual([{ url: api }])
  })

  test('/openapi.json is compressed for clients that accept gzip, and revalidated with 304', async () => {
    const { headers } = await fetch(`${api}/openapi.json`, { headers: { 'Accept-Encoding': 'gzip' } })
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-encoding': 'gzip',
      'cache-control': 'no-cache',
      vary: 'Accept-Encoding',
    })
    const known = { 'Accept-Encoding': 'gzip', 'If-None-Match': headers.get('etag') ?? '' }
    expect((await fetch(`${api}/openapi.json`, { headers: known })).status).toBe(304)
  })

  test('/openapi.json is an OpenAPI 3.1 document of API version 0.0.1 and lists every operation', async () => {
    const document = JSON.parse((await page('/openapi.json')).text) as Document
    expect(document.openapi).toMatch(/^3\.1\.\d+$/)
    expect(document.info.version).toBe('0.0.1')
    const documented = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    )
    expect(documented.sort()).toEqual(operations.map(({ id }) => id).sort())
  })

  test('/openapi.json has no dangling $ref', async () => {
    const { text } = await page('/openapi.json')
    const schemas = Object.keys(JSON.parse(text).components.schemas)
    const named = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference)
    expect(named.length).toBeGreaterThan(10)
    for (const reference of new Set(named))
      expect(schemas.map((name) => `#/components/schemas/${name}`)).toContain(reference)
  })
})

describe('/docs of a running server, whether the site was built or not', () => {
  test('/docs is an HTML page', async () => {
    const { status, type } = await page('/docs')
    expect({ status, type }).toEqual({ status: 200, type: expect.stringMatching(/^text\/html; charset=utf-8$/i) })
  })

  test.each(errorCodes)('the error code %s has a page at the URL in error responses', async (code) => {
    const { status, text } = await page(`/docs/errors/${code}`)
    expect(status).toBe(200)
    expect(text).toContain(code)
    expect(text).toMatch(/When it happens[\s\S]+What to do/)
  })

  test('the doc_url of an error response is an existing page', async () => {
    const response = await fetch(`${api}/nowhere`)
    const { error } = (await response.json()) as { error: { doc_url: string } }
    expect((await fetch(error.doc_url)).status).toBe(200)
  })

  test.each(['/docs/errors/unknown', '/docs/errors/__proto__', '/docs/unknown', '/docs/errors/conflict/x'])(
    '%s is not found',
    async (path) => {
      const { status, text } = await page(path)
      expect(status).toBe(404)
      expect(JSON.parse(text)).toMatchObject({ error: { code: 'not_found' } })
    },
  )
})

describe('/docs/reference', () => {
  test('/docs/reference loads nothing from other hosts and runs no inline script', async () => {
    const response = await fetch(`${api}/docs/reference`)
    expect(response.headers.get('content-security-policy')).toContain(`script-src 'self'; `)
    expect(response.headers.get('content-security-policy')).toContain(`connect-src 'self' ${api}; `)
    const text = await response.text()
    expect(text).toContain('<script src="/docs/reference.js">')
    expect(text).not.toMatch(/["'](?:[a-z]+:)?\/\//i)
    expect((await page('/docs/reference-start.js')).text).toContain('/openapi.json')
  })

  test.each(['gzip', 'identity'])('the script of /docs/reference is served with the encoding %s', async (encoding) => {
    const response = await fetch(`${api}/docs/reference.js`, { headers: { 'Accept-Encoding': encoding } })
    expect(response.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(response.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null)
    expect(await response.text()).toContain('createApiReference')
  })
})

describe('a server without the documentation site', () => {
  const app = docsPages(config, '/nowhere')

  test.each(['/docs', '/docs/'])('%s links to the existing pages and explains how to build the site', async (path) => {
    const text = await (await app.request(path)).text()
    expect(text).toContain('npm run docs')
    for (const [, address = ''] of text.matchAll(/href="(\/[^"]+)"/g))
      expect((await app.request(address)).status).toBe(200)
  })

  test('/docs/errors lists all nine codes with their statuses', async () => {
    const text = await (await app.request('/docs/errors')).text()
    expect(errorCodes).toHaveLength(9)
    for (const code of errorCodes) {
      expect(text).toContain(
        `<a href="/docs/errors/${code}"><code>${code}</code></a></td><td>${errorStatuses[code]}</td>`,
      )
    }
  })

  test.each(errorCodes)('the error code %s has a page that explains when it happens and what to do', async (code) => {
    const response = await app.request(`/docs/errors/${code}`)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'")
    const text = await response.text()
    expect(text).toContain(`<h1><code>${code}</code></h1>`)
    expect(text).toContain(`Status ${errorStatuses[code]}`)
    expect(text).toMatch(/When it happens<\/h2><p>.{20,}<\/p><h2>What to do<\/h2><p>.{10,}<\/p>/)
  })
})

describe('a server with the documentation site', () => {
  let folder: string
  let app: App
  const files = {
    'index.html': '<script>theme()</script><script type="module" src="/docs/assets/app.js"></script>',
    '404.html': '<p>No such page</p>',
    'guides/a.html': '<p>A guide</p>',
    'errors/index.html': '<p>All errors</p>',
    'assets/app.js': 'start()',
    'assets/app.js.gz': gzipSync('start()'),
  }
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'docs-site-'))
    for (const [name, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, 'dist', name)), { recursive: true })
      await writeFile(join(folder, 'dist', name), content)
    }
    await writeFile(join(folder, 'secret.html'), 'secret')
    app = docsPages(config, join(folder, 'dist'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test.each([
    ['/docs/', 200, files['index.html']],
    ['/docs/guides/a', 200, files['guides/a.html']],
    ['/docs/errors/', 200, files['errors/index.html']],
    ['/docs/assets/app.js', 200, files['assets/app.js']],
    ['/docs/guides', 404, undefined],
    ['/docs/../secret', 404, undefined],
    ['/docs/%2e%2e/secret.html', 404, undefined],
    ['/docs/..%2fsecret.html', 404, undefined],
  ])('%s responds with %d', async (path, status, text) => {
    const response = await app.request(path)
    expect(response.status).toBe(status)
    if (text) expect(await response.text()).toBe(text)
  })

  test.each(['/docs', '/docs/errors'])('%s redirects to the URL with a slash', async (path) => {
    const response = await app.request(path)
    expect([response.status, response.headers.get('location')]).toEqual([302, `${path}/`])
  })

  test('pages are revalidated with 304; files named by their content are immutable', async () => {
    const { headers } = await app.request('/docs/guides/a')
    expect(headers.get('cache-control')).toBe('no-cache')
    const again = await app.request('/docs/guides/a', { headers: { 'If-None-Match': headers.get('etag') ?? '' } })
    expect([again.status, await again.text()]).toEqual([304, ''])
    const asset = await app.request('/docs/assets/app.js', { headers: { 'Accept-Encoding': 'gzip' } })
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(asset.headers.get('content-encoding')).toBe('gzip')
  })

  test('a range request gets the whole page, with its Content-Security-Policy', async () => {
    const { status, headers } = await app.request('/docs/guides/a', { headers: { Range: 'bytes=0-1' } })
    expect([status, headers.get('content-length')]).toEqual([200, String(files['guides/a.html'].length)])
    expect(headers.get('content-security-policy')).toContain("default-src 'self'")
  })

  test("a page's Content-Security-Policy allows only its own inline script and nothing from other hosts", async () => {
    const { headers } = await app.request('/docs/guides/a')
    expect(headers.get('content-security-policy')).toMatch(/script-src 'self' 'sha256-[\w+/=]{44}'; /)
    expect(headers.get('content-security-policy')).not.toContain('http')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('an unknown page is HTML for browsers, and a JSON error for other clients', async () => {
    const shown = await app.request('/docs/none', { headers: { Accept: 'text/html,*/*' } })
    expect([shown.status, await shown.text()]).toEqual([404, files['404.html']])
    expect(await (await app.request('/docs/none')).text()).not.toBe(files['404.html'])
  })
})
