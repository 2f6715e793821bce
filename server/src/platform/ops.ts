import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { openAddressReader } from './client-address.ts'
import type { Platform } from './context.ts'
import { figures, readiness } from './health.ts'
import { type Listening, listen } from './listen.ts'
import type { Log } from './log.ts'

const metricsType = 'text/plain; version=0.0.4; charset=utf-8'
const paths = ['/healthz', '/readyz', '/metrics']

/** Handlers for yes-or-no requests of other programs, by path: 200 is yes, 404 is no. */
export type Checks = Record<string, (query: URLSearchParams) => boolean | Promise<boolean>>

/** Data source of `/readyz` and `/metrics`: this process, or all processes of a supervisor. */
export type Report = {
  /** Aborted when the process is about to stop: `/healthz` and `/readyz` are then 503. */
  stopping?: AbortSignal
  readiness(query: URLSearchParams): Promise<{ ready: boolean }>
  figures(): Promise<string>
}
type Base = Pick<Platform, 'config' | 'log'>

/** Starts a separate HTTP server for `/healthz`, `/readyz`, `/metrics` and checks; if a supervisor runs, only there. */
export function startOps({ config, log }: Base, report: Report, checks: Checks = {}): Promise<Listening> {
  const known = [...paths, ...Object.keys(checks)].join(', ')
  const server = createServer((request, response) => {
    const path = readPath(request)
    const check = Object.hasOwn(checks, path) ? checks[path] : undefined
    if (paths.includes(path)) answer(log, report, request, response)
    else if (check) void decide(log, check, request, response)
    else response.writeHead(404).end(`This port serves only ${known}.\n`)
  })
  return listen(server, config.HOST, config.OPS_PORT)
}

export function reportProcess(platform: Platform, stopping?: AbortSignal): Report {
  return { stopping, readiness: () => readiness(platform), figures: () => figures(platform) }
}

/** Serves `/healthz`, `/readyz` and `/metrics` on the API port; metrics only to localhost, since that port is public. */
export function opsListener(platform: Platform, otherwise: RequestListener, stopping?: AbortSignal): RequestListener {
  const readAddress = openAddressReader([])
  const report = reportProcess(platform, stopping)
  return (request, response) => {
    const path = readPath(request)
    const local = readAddress(request.socket.remoteAddress ?? '').loopback && !request.headers['x-forwarded-for']
    if (path === '/healthz' || path === '/readyz' || (path === '/metrics' && local))
      answer(platform.log, report, request, response)
    else otherwise(request, response)
  }
}

function readPath(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

function readQuery(request: IncomingMessage): URLSearchParams {
  return new URLSearchParams(request.url?.split('?', 2)[1])
}

function answer(log: Log, report: Report, request: IncomingMessage, response: ServerResponse): void {
  readContent(report, request)
    .then(({ status, type, text }) => response.writeHead(status, { 'Content-Type': type }).end(text))
    .catch((error) => {
      log.error({ error }, 'health or metrics request failed')
      response.destroy()
    })
}

async function decide(
  log: Log,
  check: Checks[string],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const yes = await check(readQuery(request))
    response.writeHead(yes ? 200 : 404).end(yes ? 'yes\n' : 'no\n')
  } catch (error) {
    log.warn({ error: (error as Error).message, path: readPath(request) }, 'check failed')
    response.writeHead(503).end()
  }
}

async function readContent(report: Report, request: IncomingMessage) {
  const path = readPath(request)
  if (path === '/metrics') return { status: 200, type: metricsType, text: await report.figures() }
  if (report.stopping?.aborted) return { status: 503, type: 'application/json', text: '{"status":"stopping"}' }
  if (path === '/healthz') return { status: 200, type: 'application/json', text: '{"status":"alive"}' }
  const state = await report.readiness(readQuery(request))
  return { status: state.ready ? 200 : 503, type: 'application/json', text: JSON.stringify(state) }
}
