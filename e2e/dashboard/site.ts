import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { reachableAddress } from '../../server/test/loopback.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A site on a part of loopback that the server may read, with a page per path; others are 404. Returns its origin. */
export async function startSite(pages: Record<string, string | Answer>): Promise<string> {
  const server = createServer((request, response) => {
    const page = pages[new URL(request.url ?? '/', 'http://localhost').pathname]
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(`<!doctype html><title>Shop</title><link rel="icon" href="data:,">${page ?? 'Not found'}`)
  })
  const { host, port } = reachableAddress()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://${host}:${port}`
}
