import { existsSync } from 'node:fs'
import { serveStatic } from '@hono/node-server/serve-static'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { getCookie } from 'hono/cookie'
import type { App } from '../../platform/http.ts'
import { builtDashboard, openPage } from './service.ts'

// Names of built files contain a hash of their content.
const assetHeaders = { 'Cache-Control': 'public, max-age=31536000, immutable', 'X-Content-Type-Options': 'nosniff' }

/** Serves the dashboard at /app, and sends browsers there from the root of the API. */
export function dashboardPages(folder = builtDashboard): App {
  const app: App = new Hono()
  app.get('/', async (c, next) => (acceptsHtml(c) ? c.redirect('/app', 302) : next()))
  const serveFile = serveFiles(folder)
  app.get('/app/assets/*', async (c, next) => {
    // Ignore Range headers, because the compressed files have other offsets.
    c.req.raw.headers.delete('range')
    await next()
    if (c.res.status === 200) for (const [name, value] of Object.entries(assetHeaders)) c.header(name, value)
  })
  app.get('/app/assets/*', serveFile)
  // A missing file stays missing: the page in its stead would fail as a script.
  app.get('/app/assets/*', (c) => c.text('There is no such file in this version of the dashboard.\n', 404))
  for (const path of ['/app/icon.svg', '/app/licences.md', '/app/inter-licence.txt']) {
    app.get(path, serveFile)
  }
  for (const path of ['/app', '/app/*']) app.get(path, (c) => sendPage(c, folder))
  return app
}

/** Opened at the first request, because it warns on stderr about a folder that was not built. */
function serveFiles(root: string): MiddlewareHandler {
  const rewriteRequestPath = (path: string) => path.slice('/app'.length)
  const open = () => serveStatic({ root, precompressed: true, rewriteRequestPath })
  let serve: ReturnType<typeof open> | undefined
  return (c, next) => {
    if (!existsSync(root)) return next()
    serve ??= open()
    return serve(c, next)
  }
}

async function sendPage(c: Context, folder: string): Promise<Response> {
  const preferences = {
    theme: getCookie(c, 'tributary_theme'),
    language: getCookie(c, 'tributary_language'),
    accepted: c.req.header('accept-language'),
  }
  const { html, status, headers } = await openPage('index.html', preferences, folder)
  return c.html(html, status, headers)
}

function acceptsHtml(c: Context): boolean {
  return c.req.header('accept')?.includes('text/html') ?? false
}
