import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type OpenOperation, type Operation, plans } from '@tributary/contract/operation'
import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import type { Ctx, Platform } from './context.ts'
import { AppError, badRequest, envelopeOf, forbidden, invalid } from './errors.ts'
import { clientOf, knownPeers, networkOf, type Peers } from './peers.ts'
import { type Allowance, allowanceOf, type RateLimiter, type Verdict } from './rate-limit.ts'
import { parse } from './validation.ts'

type Input<P, Q, B> = { params: P; query: Q; body: B }
type Bindings = {
  Bindings: { incoming: IncomingMessage }
  Variables: { requestId: string; headers: Record<string, string> }
}
type Request = Context<Bindings>

export type Route = {
  operation: Operation
  handle(ctx: Ctx, input: Input<unknown, unknown, unknown>): Promise<unknown>
}
export type App = Hono<Bindings>

/** Binds an operation of the contract to the function that answers it. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
  operation: Operation<P, Q, B, R>,
  handle: (ctx: Ctx, input: Input<z.output<P>, z.output<Q>, z.output<B>>) => Promise<z.input<R>>,
): Route {
  return { operation: operation as unknown as Operation, handle: handle as Route['handle'] }
}

export type Bytes = { body: Uint8Array<ArrayBuffer> | null; status: 200 | 304; headers: Record<string, string> }
export type OpenRoute = {
  operation: OpenOperation
  handle(query: unknown, header: (name: string) => string): Promise<Bytes>
}

/** Binds an operation that is open to everyone and answers with bytes. */
export function openRoute<Q extends z.ZodObject>(
  operation: OpenOperation<Q>,
  handle: (query: z.output<Q>, header: (name: string) => string) => Promise<Bytes>,
): OpenRoute {
  return { operation: operation as unknown as OpenOperation, handle: handle as OpenRoute['handle'] }
}

export type Serving = {
  platform: Platform
  limiter: RateLimiter
  /** Who a request comes from, by its `Authorization` header; knows keys, which this floor does not. */
  contextOf(platform: Platform, authorization: string | undefined): Promise<Omit<Ctx, 'requestId'>>
}

export function serve(routes: Route[], serving: Serving, openRoutes: OpenRoute[] = []): App {
  const app: App = new Hono<Bindings>()
  const peers = knownPeers(serving.platform.config.TRUSTED_PROXIES)
  app.use(async (c, next) => {
    c.set('requestId', requestIdOf(c))
    c.set('headers', {})
    requireEncryption(c, serving.platform, peers)
    await next()
    c.header('X-Request-Id', c.var.requestId)
  })
  for (const route of routes) {
    const path = route.operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(route.operation.method, path, (c) => timed(c, route, serving, () => answer(c, route, serving)))
  }
  for (const route of openRoutes) {
    const { method, path } = route.operation
    app.on(method, path, (c) => timed(c, route, serving, () => answerOpen(c, route, serving, peers)))
  }
  app.notFound(async (c) => respondWith(c, serving.platform, await unknownPath(c, serving)))
  app.onError((error, c) => respondWith(c, serving.platform, error))
  return app
}

async function timed(
  c: Request,
  { operation }: { operation: { id: string } },
  { platform }: Serving,
  respond: () => Promise<Response>,
): Promise<Response> {
  const started = performance.now()
  const response = await respond().catch((error: unknown) => respondWith(c, platform, error))
  const labels = { operation: operation.id, status: String(response.status) }
  platform.metrics.requests.observe(labels, (performance.now() - started) / 1000)
  return response
}

async function answer(c: Request, { operation, handle }: Route, serving: Serving): Promise<Response> {
  const ctx = await identify(c, operation.limit, serving)
  requirePermission(ctx, operation)
  const input = {
    params: parse(operation.params, c.req.param(), 'path'),
    query: parse(operation.query, queryOf(c), 'query'),
    body:
      operation.method === 'get'
        ? undefined
        : parse(operation.body, await bodyOf(c, operation, serving.platform), 'body'),
  }
  const result = operation.response.parse(await handle(ctx, input))
  return c.json(result as object, operation.status, c.var.headers)
}

async function answerOpen(
  c: Request,
  { operation, handle }: OpenRoute,
  { platform, limiter }: Serving,
  peers: Peers,
): Promise<Response> {
  const visitor = `${operation.id}:${networkOf(clientOf(c.env.incoming, peers).ip)}`
  const allowance = { limit: operation.requestsPerMinute, windowSeconds: 60 }
  const verdict = await spend(c, visitor, allowance, limiter, platform.now())
  if (!verdict.allowed) {
    platform.metrics.limited.inc({ plan: 'none', limit: operation.id })
    const advice = `Try again in ${verdict.retryAfter} s.`
    throw new AppError('rate_limit_exceeded', `${verdict.limit} requests per minute are allowed here. ${advice}`)
  }
  const query = parse(operation.query, queryOf(c), 'query')
  const { body, status, headers } = await handle(query, (name) => c.req.header(name) ?? '')
  return c.newResponse(body, status, { ...c.var.headers, ...headers })
}

function requireEncryption(c: Request, { config }: Platform, peers: Peers): void {
  const client = clientOf(c.env.incoming, peers)
  if (client.secure || (config.ENVIRONMENT === 'development' && client.loopback)) return
  throw forbidden(`Unencrypted HTTP is not supported. Use ${config.API_URL.replace(/^http:/, 'https:')}.`)
}

/** Who is asking; every request of a key counts, whatever becomes of it. */
async function identify(
  c: Request,
  limit: Operation['limit'],
  { platform, contextOf, limiter }: Serving,
): Promise<Ctx> {
  const ctx = { ...(await contextOf(platform, c.req.header('authorization'))), requestId: c.var.requestId }
  const allowance = allowanceOf(ctx.plan, limit, ctx.config)
  const verdict = await spend(c, ctx.actor.keyId, allowance, limiter, ctx.now())
  if (verdict.allowed) return ctx
  ctx.metrics.limited.inc({ plan: ctx.plan, limit })
  const window = allowance.windowSeconds === 1 ? 'second' : 'minute'
  throw new AppError(
    'rate_limit_exceeded',
    `The ${ctx.plan} plan allows ${verdict.limit} requests per ${window} here. Try again in ${verdict.retryAfter} s.`,
  )
}

/** Counts the request and tells the client how it stands. */
async function spend(
  c: Request,
  subject: string,
  allowance: Allowance,
  limiter: RateLimiter,
  now: Date,
): Promise<Verdict> {
  const verdict = await limiter(subject, allowance, now)
  c.set('headers', {
    'X-RateLimit-Limit': String(verdict.limit),
    'X-RateLimit-Remaining': String(verdict.remaining),
    'X-RateLimit-Reset': String(verdict.resetAt),
    'Retry-After': String(verdict.retryAfter),
  })
  return verdict
}

function requirePermission(ctx: Ctx, operation: Operation): void {
  const read = operation.scope.endsWith('.read')
  const accepted = [
    'apis.all',
    operation.scope,
    ...(read ? ['apis.read', operation.scope.replace('.read', '.write')] : []),
  ]
  if (!ctx.actor.scopes.some((scope) => accepted.includes(scope))) {
    throw forbidden(`This key lacks the scope ${operation.scope}. Create a key that has it.`)
  }
  if (plans.indexOf(ctx.plan) < plans.indexOf(operation.plan)) {
    throw forbidden(`${operation.path} needs the ${operation.plan} plan or higher; this workspace has ${ctx.plan}.`)
  }
}

/** An empty value is the same as none; a repeated name becomes a list. */
function queryOf(c: Request): Record<string, string | string[]> {
  const entries = Object.entries(c.req.queries()).map(([name, values]) => [
    name,
    values.filter((value) => value !== ''),
  ])
  return Object.fromEntries(
    entries
      .filter(([, values]) => values?.length)
      .map(([name, values]) => [name, values?.length === 1 ? values[0] : values]),
  )
}

async function bodyOf(c: Request, operation: Operation, { config }: Platform): Promise<unknown> {
  if (operation.body.def.type === 'undefined') return undefined
  const bytes = await readBody(c.env.incoming, config.BODY_LIMIT_BYTES)
  if (bytes.length === 0) return {}
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw badRequest(`The body is not valid JSON: ${(error as Error).message}.`)
  }
}

/** Reads on past the limit for a while without keeping it, so that the client gets to see the answer. */
async function readBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = invalid(`The body is larger than the ${limit} bytes that are allowed.`)
  if (Number(incoming.headers['content-length'] ?? 0) > limit * 64) throw tooLarge
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of incoming) {
      length += (chunk as Buffer).length
      if (length <= limit) chunks.push(chunk as Buffer)
      else if (length > limit * 64) break
    }
  } catch {
    throw badRequest('The body broke off.')
  }
  if (length > limit) throw tooLarge
  return Buffer.concat(chunks)
}

function requestIdOf(c: Request): string {
  const given = c.req.header('x-request-id')
  return given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
}

async function unknownPath(c: Request, serving: Serving): Promise<AppError> {
  const problem = await identify(c, 'standard', serving).catch((error: unknown) => error)
  if (problem instanceof AppError && problem.code === 'rate_limit_exceeded') return problem
  return new AppError('not_found', `There is no ${c.req.method} ${c.req.path}. See /docs for all operations.`)
}

/** The one place where an error becomes an answer. */
function respondWith(c: Request, { config, log }: Platform, error: unknown): Response {
  const known =
    error instanceof AppError ? error : error instanceof HTTPException ? badRequest(error.message) : undefined
  const requestId = c.var.requestId
  if (!known) log.error({ error, requestId, method: c.req.method, path: c.req.path }, 'A request failed')
  else log.debug({ code: known.code, message: known.message, requestId, path: c.req.path }, 'A request was refused')
  const shown =
    known ??
    new AppError('internal_server_error', `The server failed. Its log has the cause under request ${requestId}.`)
  return c.json(envelopeOf(shown, config.API_URL), shown.status, { ...c.var.headers, 'X-Request-Id': requestId })
}
