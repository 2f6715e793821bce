import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Platform } from './context.ts'
import { figures, readiness } from './health.ts'
import { type Listening, listen } from './listen.ts'
import { knownPeers } from './peers.ts'

const paths = ['/healthz', '/readyz', '/metrics']

/** Questions of other programs, by path: 200 is yes, 404 is no. */
export type Questions = Record<string, (query: URLSearchParams) => boolean | Promise<boolean>>

/** A listener of its own for `/healthz`, `/readyz`, `/metrics` and questions, in every process. */
export function startOps(platform: Platform, questions: Questions = {}): Promise<Listening> {
  const known = [...paths, ...Object.keys(questions)].join(', ')
  const server = createServer((request, response) => {
    const path = pathOf(request)
    const question = Object.hasOwn(questions, path) ? questions[path] : undefined
    if (paths.includes(path)) answer(platform, path, response)
    else if (question) void decide(platform, question, request, response)
    else response.writeHead(404).end(`Here are only ${known}.\n`)
  })
  return listen(server, platform.config.HOST, platform.config.OPS_PORT)
}

/** The same beside the API; the figures only for this machine itself, since that port is public. */
export function opsListener(platform: Platform, otherwise: RequestListener): RequestListener {
  const peers = knownPeers([])
  return (request, response) => {
    const path = pathOf(request)
    const local = peers(request.socket.remoteAddress ?? '').loopback && !request.headers['x-forwarded-for']
    if (path === '/healthz' || path === '/readyz' || (path === '/metrics' && local)) answer(platform, path, response)
    else otherwise(request, response)
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '/').split('?', 1)[0] ?? '/'
}

function answer(platform: Platform, path: string, response: ServerResponse): void {
  contentOf(platform, path)
    .then(({ status, type, text }) => response.writeHead(status, { 'Content-Type': type }).end(text))
    .catch((error) => {
      platform.log.error({ error }, 'A health or metrics request failed')
      response.destroy()
    })
}

async function decide(
  { log }: Platform,
  question: Questions[string],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const yes = await question(new URLSearchParams(request.url?.split('?', 2)[1]))
    response.writeHead(yes ? 200 : 404).end(yes ? 'yes\n' : 'no\n')
  } catch (error) {
    log.warn({ error: (error as Error).message, path: pathOf(request) }, 'A question could not be answered')
    response.writeHead(503).end()
  }
}

async function contentOf(platform: Platform, path: string) {
  const { registry } = platform.metrics
  if (path === '/metrics') return { status: 200, type: registry.contentType, text: await figures(platform) }
  if (path === '/healthz') return { status: 200, type: 'application/json', text: '{"status":"alive"}' }
  const state = await readiness(platform)
  return { status: state.ready ? 200 : 503, type: 'application/json', text: JSON.stringify(state) }
}
