import type { Page, Request } from 'playwright-core'

const quietMs = 500

/** Returns a function that waits until no request has been open for a while, except streams, which stay open. */
export function watchRequests(page: Page): () => Promise<void> {
  const open = new Set<Request>()
  let changedAt = performance.now()
  const isStream = (request: Request) => new URL(request.url()).pathname.endsWith('/stream')
  const end = (request: Request) => {
    if (open.delete(request)) changedAt = performance.now()
  }
  page.on('request', (request) => {
    if (isStream(request)) return
    open.add(request)
    changedAt = performance.now()
  })
  page.on('requestfinished', end)
  page.on('requestfailed', end)
  return async () => {
    while (open.size > 0 || performance.now() - changedAt < quietMs) await page.waitForTimeout(50)
  }
}
