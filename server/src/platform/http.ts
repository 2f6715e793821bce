// Longer than other files: every step from a request to its answer, in one place.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BrowserOperation, OpenOperation, Operation } from '@tributary/contract/operation'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import { type Admission, isLargeList, openAdmission, type Sender, streamList } from './answers.ts'
import { announcedBytes, hasUnreadBody, parseJson, readBody } from './body.ts'
import { isOverloaded } from './clickhouse.ts'
import { sleep } from './clock.ts'
import { type Ctx, type Platform, requirePermission } from './context.ts'
import { AppError, badRequest, conflict, envelopeOf, forbidden } from './errors.ts'
import { idempotencyKeyOf, once, requestHash } from './idempotency.ts'
import { clientOf, knownPeers, networkOf, type Peers, type Visitor, visitorOf } from './peers.ts'
import { asTenant, isDeadlock, isTimedOut, PoolBusyError } from './postgres.ts'
import {
  allowanceOf,
  limitHeaders,
  limitPublishable,
  openUnauthenticatedLimit,
  type RateLimiter,
  tooMany,
  type UnauthenticatedLimit,
} from './rate-limit.ts'
import { openStreams, type StreamRoute, type Streams } from './streams.ts'
import { tracedRequest } from './tracing.ts'
import { parse, readQuery } from './validation.ts'

type Input<P, Q, B> = { params: P; query: Q; body: B }
type Bindings = {
  Bindings: { incoming: IncomingMessage; outgoing?: ServerResponse }
  Variables: { requestId: string; headers: Record<string, string> }
}
type Request = Context<Bindings>
/** The address that was called, as clients write it, and headers for the answer. */
export type Exchange = { url: URL; setHeader(name: string, value: string): void }

export type Route = {
  operation: Operation
  handle(ctx: Ctx, input: Input<unknown, unknown, unknown>, exchange: Exchange, prepared: unknown): Promise<unknown>
  prepare?(ctx: Ctx, input: Input<unknown, unknown, unknown>): Promise<unknown>
}
export type App = Hono<Bindings>

/**
 * Binds an operation of the contract to the function that answers it; to a publishable key the answer is always `{}`.
 * `prepare` runs before the transaction of an `Idempotency-Key`: whatever waits for the network belongs there.
 */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType, X>(
  operation: Operation<P, Q, B, R>,
  handle: (
    ctx: Ctx,
    input: Input<z.output<P>, z.output<Q>, z.output<B>>,
    exchange: Exchange,
    prepared: X,
  ) => Promise<z.input<R> | undefined>,
  prepare?: (ctx: Ctx, input: Input<z.output<P>, z.output<Q>, z.output<B>>) => Promise<X>,
): Route {
  return { operation: operation as unknown as Operation, handle, prepare } as Route
}

export type Bytes = { body: Uint8Array<ArrayBuffer> | null; status: 200 | 304; headers: Record<string, string> }
export type OpenRoute = {
  operation: OpenOperation
  /** `network` tells visitors apart: an IPv4 address, or the network of an IPv6 address. */
  handle(query: unknown, header: (name: string) => string, network: string): Promise<Bytes>
}

/** Binds an operation that is open to everyone and answers with bytes. */
export function openRoute<Q extends z.ZodObject>(
  operation: OpenOperation<Q>,
  handle: (query: z.output<Q>, header: (name: string) => string, network: string) => Promise<Bytes>,
): OpenRoute {
  return { operation: operation as unknown as OpenOperation, handle: handle as OpenRoute['handle'] }
}

/** The visitor, and the host of the page that calls, without `www.`; empty when nothing tells it. */
export type Caller = Visitor & { page: string }
export type BrowserRoute = { operation: BrowserOperation; handle(body: unknown, caller: Caller): Promise<unknown> }

/** Binds an operation that pages of any site and apps call without a key. */
export function browserRoute<B extends z.ZodType, R extends z.ZodType>(
  operation: BrowserOperation<B, R>,
  handle: (body: z.output<B>, caller: Caller) => Promise<z.input<R>>,
): BrowserRoute {
  return { operation: operation as unknown as BrowserOperation, handle: handle as BrowserRoute['handle'] }
}

export type Serving = {
  platform: Platform
  limiter: RateLimiter
  /** Whoever gives them ends them. */
  streams?: Streams
  /**
   * Who a request comes from, by its `Authorization` header and the host of the page that sends it; knows keys, which
   * this floor does not.
   */
  contextOf(
    platform: Platform,
    authorization: string | undefined,
    page: string,
    /** The client has sent too many invalid keys: look up as few as possible. */
    isSuspect?: boolean,
  ): Promise<Omit<Ctx, 'requestId'>>
}
type Guarded = Serving & { peers: Peers; unauthenticated: UnauthenticatedLimit; admission: Admission }

const crossOrigin = cors({
  origin: '*',
  allowMethods: ['POST', 'OPTIONS'],
  allowHeaders: ['Content-Type', 'Authorization', 'Idempotency-Key'],
  maxAge: 86_400,
})
// Answers to publishable keys come at multiples of it, so that their time does not show what was found.
const pageAnswerStepMs = 50

export function serve(
  routes: Route[],
  given: Serving,
  openRoutes: OpenRoute[] = [],
  browserRoutes: BrowserRoute[] = [],
  streamRoutes: StreamRoute[] = [],
): App {
  const app: App = new Hono<Bindings>()
  const { config } = given.platform
  const peers = knownPeers(config.TRUSTED_PROXIES)
  const unauthenticated = openUnauthenticatedLimit(given.limiter, config)
  const serving = { ...given, peers, unauthenticated, admission: openAdmission(given.platform) }
  const streams = serving.streams ?? openStreams(serving.platform)
  app.use(async (c, next) => {
    c.set('requestId', requestIdOf(c))
    c.set('headers', {})
    requireEncryption(c, serving.platform, peers)
    await next()
    c.header('X-Request-Id', c.var.requestId)
  })
  const forPages = [...browserRoutes, ...routes.filter((route) => route.operation.isForPages)]
  for (const { operation } of forPages) app.use(operation.path, crossOrigin)
  for (const route of routes) {
    const path = route.operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(route.operation.method, path, (c) => timed(c, route, serving, () => answer(c, route, serving)))
  }
  for (const route of openRoutes) {
    const { method, path } = route.operation
    app.on(method, path, (c) => timed(c, route, serving, () => answerOpen(c, route, serving)))
  }
  for (const route of streamRoutes) {
    const { method, path } = route.operation
    app.on(method, path, (c) => timed(c, route, serving, () => answerStream(c, route, serving, streams)))
  }
  for (const route of browserRoutes) {
    const { method, path } = route.operation
    app.on(method, path, (c) => timed(c, route, serving, () => answerPage(c, route, serving)))
  }
  app.notFound(async (c) => {
    const refused = await unknownPath(c, serving).catch((error: unknown) => error)
    return respondWith(c, serving.platform, refused)
  })
  app.onError((error, c) => respondWith(c, serving.platform, error))
  return app
}

async function timed(
  c: Request,
  { operation }: { operation: { id: string; method: string; path: string } },
  { platform }: Serving,
  respond: () => Promise<Response>,
): Promise<Response> {
  const started = performance.now()
  const asked = { ...operation, requestId: c.var.requestId, traceparent: c.req.header('traceparent') }
  const response = await tracedRequest(platform, asked, () =>
    respond().catch((error: unknown) => respondWith(c, platform, error)),
  )
  const labels = { operation: operation.id, status: String(response.status) }
  platform.metrics.requests.observe(labels, (performance.now() - started) / 1000)
  return response
}

async function answer(c: Request, { operation, handle, prepare }: Route, serving: Guarded): Promise<Response> {
  const started = performance.now()
  const ctx = await identify(c, operation.limit, serving)
  requirePermission(ctx, operation)
  const isWrite = operation.method !== 'get'
  const key = isWrite ? idempotencyKeyOf(c.req.header('idempotency-key')) : undefined
  const params = parse(operation.params, c.req.param(), 'path')
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  using held = new DisposableStack()
  const hasBody = isWrite && takesBody(operation)
  if (hasBody)
    held.defer(serving.admission.reserve(findSender(c, serving, ctx), announcedBytes(c.env.incoming, operation)))
  const bytes = hasBody ? await readBody(c.env.incoming, operation, ctx.config) : undefined
  held.defer(await serving.admission.enter(ctx, operation.limit))
  const body = isWrite ? parse(operation.body, bytes && parseJson(bytes, operation), 'body') : undefined
  const { isPublishable } = ctx.actor
  const inShare = <R>(work: () => Promise<R>) => asTenant(ctx.workspaceId, work)
  const prepared = prepare && (await inShare(() => prepare(ctx, { params, query, body })))
  const work = async (ctx: Ctx) => {
    const result = await handle(ctx, { params, query, body }, exchangeOf(c, serving), prepared)
    return (isPublishable ? {} : operation.response.parse(result)) as object
  }
  const paced = async <R>(outcome: Promise<R>) => {
    const result = await outcome
    if (!isPublishable) return result
    held.dispose()
    await sleep(pageAnswerStepMs - ((performance.now() - started) % pageAnswerStepMs))
    return result
  }
  if (key === undefined && isPublishable) {
    return c.json(await paced(inShare(() => work(ctx))), operation.status, c.var.headers)
  }
  if (key === undefined) return sendJson(c, serving, operation.status, await inShare(() => work(ctx)), held.move())
  const { pathname, search } = new URL(c.req.url)
  const hash = requestHash([c.req.method, pathname, search, bytes ?? ''])
  const asked = { key, hash }
  const { status, text, isReplayed } = await paced(
    inShare(() =>
      once(ctx, asked, async (ctx) => ({
        status: operation.status,
        text: JSON.stringify(await work(ctx)),
      })),
    ),
  )
  return c.newResponse(text, status as typeof operation.status, {
    ...c.var.headers,
    'Content-Type': 'application/json',
    ...(isReplayed && !isPublishable && { 'Idempotency-Replayed': 'true' }),
  })
}

/** Large lists are made while they are sent; what was held for the request is given back at their end. */
function sendJson(
  c: Request,
  { platform }: Serving,
  status: Operation['status'],
  value: unknown,
  held: DisposableStack,
): Response {
  if (!isLargeList(value)) {
    held.dispose()
    return c.json(value as object, status, c.var.headers)
  }
  const body = streamList(value, {
    stallMs: platform.config.STREAM_STALL_MS,
    cut: () => c.env.outgoing?.destroy(),
    ended: () => held.dispose(),
  })
  return c.newResponse(body, status, { ...c.var.headers, 'Content-Type': 'application/json' })
}

function exchangeOf(c: Request, { platform }: Serving): Exchange {
  const { pathname, search } = new URL(c.req.url)
  return {
    url: new URL(platform.config.API_URL.replace(/\/+$/, '') + pathname + search),
    setHeader: (name, value) => c.set('headers', { ...c.var.headers, [name]: value }),
  }
}

async function answerStream(
  c: Request,
  { operation, handle }: StreamRoute,
  serving: Guarded,
  streams: Streams,
): Promise<Response> {
  const ctx = await identify(c, operation.limit, serving)
  requirePermission(ctx, operation)
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  const header = (name: string) => c.req.header(name) ?? ''
  const start = (signal: AbortSignal) => asTenant(ctx.workspaceId, () => handle(ctx, { query, header, signal }))
  const authorization = c.req.header('authorization')
  const page = pageOf(c)
  const recheck = async () =>
    requirePermission(await serving.contextOf(serving.platform, authorization, page), operation)
  const { headers, body } = await streams.open(ctx, operation, start, () => c.env.outgoing?.destroy(), recheck)
  return c.newResponse(body, 200, { ...c.var.headers, ...headers })
}

async function answerOpen(c: Request, { operation, handle }: OpenRoute, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  const network = networkOfClient(c, serving)
  const { body, status, headers } = await handle(query, (name) => c.req.header(name) ?? '', network)
  return c.newResponse(body, status, { ...c.var.headers, ...headers })
}

async function answerPage(c: Request, { operation, handle }: BrowserRoute, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  using held = new DisposableStack()
  held.defer(serving.admission.reserve(findSender(c, serving), announcedBytes(c.env.incoming, operation)))
  const bytes = await readBody(c.env.incoming, operation, serving.platform.config)
  const body = parse(operation.body, parseJson(bytes, operation), 'body')
  const caller = { ...visitorOf(c.env.incoming, serving.peers), page: pageOf(c) }
  const result = operation.response.parse(await handle(body, caller))
  return c.json(result as object, 200, c.var.headers)
}

async function limitVisitor(
  c: Request,
  operation: Pick<OpenOperation, 'id' | 'requestsPerMinute'>,
  serving: Guarded,
): Promise<void> {
  const { platform, limiter } = serving
  const allowance = { limit: operation.requestsPerMinute, windowSeconds: 60 }
  const verdict = await limiter(`${operation.id}:${networkOfClient(c, serving)}`, allowance, platform.now())
  c.set('headers', limitHeaders(verdict))
  if (!verdict.allowed) {
    platform.metrics.limited.inc({ plan: 'none', limit: operation.id })
    throw tooMany(verdict)
  }
}

function networkOfClient(c: Request, { peers }: Guarded): string {
  return networkOf(clientOf(c.env.incoming, peers).ip)
}

/** A publishable key is a visitor's: visitors can't use up the memory that the workspace's own server needs. */
function findSender(c: Request, serving: Guarded, ctx?: Ctx): Sender {
  if (ctx && !ctx.actor.isPublishable) return { kind: 'workspace', name: ctx.workspaceId, plan: ctx.plan }
  return { kind: 'visitor', name: networkOfClient(c, serving), plan: ctx?.plan ?? 'none' }
}

/** Some pages send no `Referer`, some browsers no `Origin`. */
function pageOf(c: Request): string {
  const address = URL.parse(c.req.header('referer') ?? '') ?? URL.parse(c.req.header('origin') ?? '')
  return (address?.hostname ?? '').replace(/^www\./, '')
}

function requireEncryption(c: Request, { config }: Platform, peers: Peers): void {
  const client = clientOf(c.env.incoming, peers)
  if (client.secure || (config.ENVIRONMENT === 'development' && client.loopback)) return
  throw forbidden(`Unencrypted HTTP is not supported. Use ${config.API_URL.replace(/^http:/, 'https:')}.`)
}

/** Finds who is asking; every request of a key counts, whatever becomes of it. */
async function identify(c: Request, limit: Operation['limit'], serving: Guarded): Promise<Ctx> {
  const { platform, contextOf, limiter, unauthenticated } = serving
  const network = networkOfClient(c, serving)
  const isSuspect = unauthenticated.isUsedUp(network)
  const found = await contextOf(platform, c.req.header('authorization'), pageOf(c), isSuspect).catch(async (error) => {
    if (error instanceof AppError && error.code === 'unauthorized') await limitUnauthenticated(c, network, serving)
    throw error
  })
  const ctx = { ...found, requestId: c.var.requestId }
  const { isPublishable, keyId } = ctx.actor
  const now = ctx.now()
  const allowance = allowanceOf(ctx.plan, limit, ctx.config)
  const verdict = isPublishable
    ? await limitPublishable(limiter, { keyId, network, config: ctx.config, now })
    : await limiter(limit === 'export' ? `export:${keyId}` : keyId, allowance, now)
  c.set('headers', limitHeaders(verdict))
  if (verdict.allowed) return ctx
  ctx.metrics.limited.inc({ plan: ctx.plan, limit })
  if (isPublishable) throw tooMany(verdict, { who: 'A publishable key' })
  throw tooMany(verdict, { who: `The ${ctx.plan} plan`, window: allowance.windowSeconds === 1 ? 'second' : 'minute' })
}

async function limitUnauthenticated(c: Request, network: string, serving: Guarded): Promise<void> {
  const { platform, unauthenticated } = serving
  const verdict = await unauthenticated.spend(network, platform.now())
  if (verdict.allowed) return
  c.set('headers', limitHeaders(verdict))
  platform.metrics.limited.inc({ plan: 'none', limit: 'unauthenticated' })
  throw tooMany(verdict, { whose: 'without a valid key from one client' })
}

function takesBody({ body }: Pick<Operation, 'body'>): boolean {
  return body.def.type !== 'undefined'
}

function requestIdOf(c: Request): string {
  const given = c.req.header('x-request-id')
  return given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
}

/** Whether a path exists is told only to those who have a key. */
async function unknownPath(c: Request, serving: Guarded): Promise<AppError> {
  // The documentation is open to everyone.
  if (!c.req.path.startsWith('/docs/')) await identify(c, 'standard', serving)
  return new AppError('not_found', `There is no ${c.req.method} ${c.req.path}. See /docs/reference for all operations.`)
}

/** The one place where an error becomes an answer. */
function respondWith(c: Request, { config, log, metrics }: Platform, error: unknown): Response {
  const known = knownProblem(error)
  if (error instanceof PoolBusyError) {
    c.set('headers', { ...c.var.headers, 'Retry-After': '1' })
    metrics.limited.inc({ plan: 'none', limit: 'connections' })
  }
  const requestId = c.var.requestId
  const path = withoutNames(c.req.path)
  if (!known) log.error({ error, requestId, method: c.req.method, path }, 'A request failed')
  else log.debug({ code: known.code, message: withoutNames(known.message), requestId, path }, 'A request was refused')
  const shown =
    known ??
    new AppError('internal_server_error', `The server failed. Its log has the cause under request ${requestId}.`)
  return c.json(envelopeOf(shown, config.API_URL), shown.status, {
    ...c.var.headers,
    'X-Request-Id': requestId,
    ...(hasUnreadBody(c.env.incoming) && { Connection: 'close' }),
  })
}

function knownProblem(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error
  if (error instanceof HTTPException) return badRequest(error.message)
  if (error instanceof PoolBusyError) {
    return new AppError('rate_limit_exceeded', 'The server is busy with other requests. Try again in a second.')
  }
  if (isDeadlock(error)) return conflict('Other requests are changing the same things right now. Try again.')
  if (!isTimedOut(error) && !isOverloaded(error)) return undefined
  return new AppError('rate_limit_exceeded', 'The database took too long to answer. Ask for less, or try again later.')
}

/** Ids that clients give their things may tell who a person is; logs outlive them. */
function withoutNames(text: string): string {
  return text.replaceAll(/\bext_[^\s/]+/g, 'ext_…')
}
