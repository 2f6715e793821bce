import { type Context, Hono } from 'hono'
import type { App } from '../../platform/http.ts'
import type { TrackerFile, TrackerFiles } from './service.ts'

const forever = 'public, max-age=31536000, immutable'
const shortly = 'public, max-age=3600'

/** Serves the tracker script: at /tracker.js the current version, at a URL with its hash an immutable version. */
export function trackerScripts({ script, module, released }: TrackerFiles): App {
  const app: App = new Hono()
  app.get('/tracker.js', (c) => send(c, script, shortly))
  app.get('/tracker.mjs', (c) => send(c, module, shortly))
  for (const file of [script, ...released]) app.get(`/tracker.${file.hash}.js`, (c) => send(c, file, forever))
  app.get('/:name{tracker\\.[0-9a-f]+\\.js}', (c) => c.text('There is no tracker script with this hash.\n', 404))
  return app
}

function send(c: Context, { bytes, packed, hash }: TrackerFile, cacheControl: string): Response {
  const headers = {
    ETag: `"${hash}"`,
    'Cache-Control': cacheControl,
    Vary: 'Accept-Encoding',
    // Browsers check a script's integrity attribute only if CORS allows the page to read the script.
    'Access-Control-Allow-Origin': '*',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'X-Content-Type-Options': 'nosniff',
  }
  const known = (c.req.header('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(headers.ETag)) return c.body(null, 304, headers)
  const isPacked = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '')
  return c.body(isPacked ? packed : bytes, 200, {
    ...headers,
    'Content-Type': 'text/javascript; charset=utf-8',
    ...(isPacked && { 'Content-Encoding': 'gzip' }),
  })
}
