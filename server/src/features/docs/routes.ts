import { readFile } from 'node:fs/promises'
import { openApiDocument } from '@tributary/contract/openapi'
import { type ErrorCode, errorCodes } from '@tributary/contract/operation'
import { Hono } from 'hono'
import type { Config } from '../../platform/config.ts'
import type { App } from '../../platform/http.ts'
import { errorPage, errorsPage, referencePage } from './pages.ts'

// Its package does not export the bundle for browsers, so it is found beside the entry that it does export.
const script = new URL('./browser/standalone.js', import.meta.resolve('@scalar/api-reference'))

/** Pages for people: the API reference and what each error code means. Open to everyone. */
export function docsPages(config: Config): App {
  const app: App = new Hono()
  const document = JSON.stringify(openApiDocument(config.API_URL))
  app.get('/openapi.json', (c) => c.body(document, 200, { 'Content-Type': 'application/json' }))
  app.get('/docs', (c) => c.html(referencePage()))
  app.get('/docs/reference.js', async (c) => {
    return c.body(await readFile(script, 'utf8'), 200, {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Cache-Control': 'public, max-age=86400',
    })
  })
  app.get('/docs/errors', (c) => c.html(errorsPage()))
  app.get('/docs/errors/:code', (c, next) => {
    const code = c.req.param('code') as ErrorCode
    return errorCodes.includes(code) ? c.html(errorPage(code)) : next()
  })
  return app
}
