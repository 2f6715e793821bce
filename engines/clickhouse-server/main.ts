// ClickHouse's HTTP interface over chdb, which is ClickHouse inside this process. For development and trials: one user,
// no replication, no native protocol. Start it with UV_THREADPOOL_SIZE above CH_CONCURRENCY: each query holds a thread.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { databaseError, sendError } from './answer.ts'
import { openChdb } from './chdb.ts'
import { execute } from './execute.ts'
import { createGate } from './gate.ts'
import { readQueryRequest, requireCredentials } from './request.ts'
import { openSpool } from './spool.ts'

const { env } = process
const productionWarning =
  'This in-process ClickHouse is for development and trials. Install the ClickHouse server: docs/guides/self-hosting.md, "The ClickHouse server"'
const path = env.CH_PATH ?? './clickhouse-data'
const port = Number(env.CH_PORT ?? 8123)
const host = env.CH_HOST ?? '127.0.0.1'
const expected = { user: env.CH_USER ?? 'default', password: env.CH_PASSWORD ?? '' }
const concurrency = Number(env.CH_CONCURRENCY ?? 16)
const queueLength = Number(env.CH_QUEUE ?? 1000)
const chdb = openChdb(path, (env.CH_ARGS ?? '').split(' ').filter(Boolean))
const spool = openSpool(join(resolve(path), 'inserts'))

const gate = createGate(concurrency, queueLength, () =>
  databaseError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', `Too many simultaneous queries. Maximum: ${concurrency}.`),
)

// The same header limit as ClickHouse, because query parameters are in the URL.
const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
  handle(request, response).catch((error) => sendError(response, error, chdb.version))
})
server.keepAliveTimeout = 30_000
server.listen(port, host, () => {
  const { port: chosenPort } = server.address() as AddressInfo
  console.log(`ClickHouse ${chdb.version} (chdb) listens on http://${host}:${chosenPort}, data in ${path}`)
  if (env.NODE_ENV === 'production') console.warn(productionWarning)
})
process.once('SIGTERM', stop)
process.once('SIGINT', stop)

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams: parameters } = new URL(request.url ?? '/', 'http://localhost')
  const asksForLife = pathname === '/' && request.method === 'GET' && !parameters.has('query')
  if (pathname === '/ping' || asksForLife) {
    response.end('Ok.\n')
    return
  }
  response.setHeader('X-ClickHouse-Server-Display-Name', 'chdb')
  response.setHeader('X-ClickHouse-Timezone', 'UTC')
  requireCredentials(request, parameters, expected)
  const query = await readQueryRequest(request, parameters, spool)
  await using _rows = query.rows
  response.setHeader('X-ClickHouse-Query-Id', query.queryId)

  await gate.enter()
  try {
    if (!response.destroyed) await execute(chdb, query, response)
  } finally {
    gate.leave()
  }
}

function stop(): void {
  server.close(() => chdb.close())
  setTimeout(() => server.closeAllConnections(), 3000).unref()
}
