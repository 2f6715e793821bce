import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { serveStatic } from '@hono/node-server/serve-static'
import { type Context, Hono } from 'hono'
import { etag } from 'hono/etag'
import type { Config } from '../../platform/config.ts'
import type { App } from '../../platform/http.ts'
import { errorsPage, referencePage, referenceStart, siteMissingPage } from './pages.ts'
import { pageHeaders } from './policy.ts'
import { builtSite, explainError, findSite, readDocument, readReferenceScript } from './service.ts'

const documentHeaders = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
const scriptHeaders = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Cache-Control': 'public, max-age=86400',
  'X-Content-Type-Options': 'nosniff',
}
const assetHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  'X-Content-Type-Options': 'nosniff',
}

/** Serves the documentation without a key: guides, the API reference and the error codes. */
export function docsPages(config: Config, siteFolder = builtSite): App {
  const app: App = new Hono()
  for (const path of ['/openapi.json', '/docs/*']) app.use(path, etag())
  const document = readDocument(config.API_URL)
  const answerDocument = packable(async () => document)
  app.get('/openapi.json', (c) => answerDocument(c, documentHeaders))
  app.get('/docs/reference', (c) => {
    const html = referencePage()
    return c.html(html, 200, pageHeaders(html, [new URL(config.API_URL).origin]))
  })
  const answerScript = packable(readReferenceScript)
  app.get('/docs/reference.js', (c) => answerScript(c, scriptHeaders))
  app.get('/docs/reference-start.js', (c) => c.body(referenceStart, 200, scriptHeaders))
  app.route('/', sitePages(siteFolder) ?? plainPages())
  return app
}

/** Serves constant content; compresses it once, for clients that accept gzip. */
function packable(read: () => Promise<Buffer<ArrayBuffer>>) {
  let packed: Promise<Buffer<ArrayBuffer>> | undefined
  return async (c: Context, headers: Record<string, string>) => {
    const varying = { ...headers, Vary: 'Accept-Encoding' }
    if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '')) return c.body(await read(), 200, varying)
    packed ??= read().then(promisify(gzip))
    return c.body(await packed, 200, { ...varying, 'Content-Encoding': 'gzip' })
  }
}

/** Serves the documentation site from its folder; undefined when it was not built. */
function sitePages(folder: string): App | undefined {
  const site = findSite(folder)
  if (!site) return undefined
  const app: App = new Hono()
  // All pages have the same inline scripts, so the home page's CSP hashes hold for every page.
  const headers = pageHeaders(site.home)
  // Redirect to the trailing slash: without it, the site's client-side router finds no page.
  for (const path of ['/docs', '/docs/errors', '/docs/adr']) app.get(path, (c) => c.redirect(`${path}/`, 302))
  app.get('/docs/*', async (c, next) => {
    // Ignore Range headers: a partial response would need its own ETag.
    c.req.raw.headers.delete('range')
    await next()
    if (c.res.status !== 200) return
    const isNamedByContent = c.req.path.startsWith('/docs/assets/')
    for (const [name, value] of Object.entries(isNamedByContent ? assetHeaders : headers)) c.header(name, value)
  })
  const rewriteRequestPath = (path: string) => fileAt(path.slice('/docs'.length))
  app.get('/docs/*', serveStatic({ root: folder, precompressed: true, rewriteRequestPath }))
  // Browsers get an HTML page for 404; other clients get the API's JSON error.
  app.get('/docs/*', async (c, next) => {
    if (!c.req.header('accept')?.includes('text/html')) return next()
    return c.html(await site.readNotFound(), 404, headers)
  })
  return app
}

/** The file of a documentation URL; page URLs have no extension. */
function fileAt(path: string): string {
  if (path === '' || path.endsWith('/')) return `${path}index.html`
  return /\.[a-z\d]+$/.test(path) ? path : `${path}.html`
}

function plainPages(): App {
  const app: App = new Hono()
  const html = (text: string) => [text, 200, pageHeaders(text)] as const
  for (const path of ['/docs', '/docs/']) app.get(path, (c) => c.html(...html(siteMissingPage())))
  app.get('/docs/errors', (c) => c.html(...html(errorsPage())))
  app.get('/docs/errors/:code', (c, next) => {
    const page = explainError(c.req.param('code'))
    return page ? c.html(...html(page)) : next()
  })
  return app
}
