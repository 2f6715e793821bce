// This file exceeds the line limit, because it has every step from an HTTP request to its response.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Access, JsonOperation, Operation } from '@tributary/contract/operation'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import { type Admission, openAdmission, type Sender, serialize, streamList } from './answers.ts'
import { announcedBytes, hasUnreadBody, parseJson, readBody } from './body.ts'
import { isOverloaded } from './clickhouse.ts'
import {
  type AddressReader,
  clientNetwork,
  openAddressReader,
  readClient,
  readVisitor,
  type Visitor,
} from './client-address.ts'
import { sleep } from './clock.ts'
import { type Actor, type Ctx, formatActor, type Platform, requirePermission } from './context.ts'
import { type Credentials, requireSameOrigin } from './credentials.ts'
import { AppError, badRequest, conflict, errorEnvelope, forbidden } from './errors.ts'
import { parseIdempotencyKey, requestHash, withIdempotency } from './idempotency.ts'
import { asTenant, isDeadlock, isTimedOut, PoolBusyError } from './postgres.ts'
import {
  findAllowance,
  limitHeaders,
  limitPublishable,
  openUnauthenticatedLimit,
  type RateLimiter,
  tooMany,
  type UnauthenticatedLimit,
} from './rate-limit.ts'
import { openStreams, type Streamed, type Streams } from './streams.ts'
import { tracedRequest } from './tracing.ts'
import { parse, readQuery } from './validation.ts'

type Bindings = {
  Bindings: { incoming: IncomingMessage; outgoing?: ServerResponse }
  Variables: { requestId: string; headers: Record<string, string>; actor?: Actor }
}
type Request = Context<Bindings>
export type App = Hono<Bindings>

type Kind = Operation['kind']
/** A visitor, and the host of the calling web page without `www.`, or an empty string without `Referer` and `Origin`. */
export type Caller = Visitor & { page: string }
export type Bytes = { body: Uint8Array<ArrayBuffer> | null; status: 200 | 304; headers: Record<string, string> }
type Exchange = {
  /** The request URL below API_URL, as the client sees it. */
  url: URL
  /** Returns a request header, or the empty string. */
  header(name: string): string
  setHeader(name: string, value: string): void
}

/** The handler's arguments and result, by operation kind. */
type Askers = { json: Ctx; stream: Ctx; public: Caller; browser: Caller }
type Exchanges = {
  json: Exchange
  /** `signal` aborts when the client disconnects or the server shuts down. */
  stream: Exchange & { signal: AbortSignal }
  public: Exchange
  browser: Exchange
}
type Results<Json> = { json: Json | undefined; stream: Streamed; public: Bytes; browser: Json }

type Parsed<O, Field extends string> = Field extends keyof O ? z.output<O[Field]> : undefined
type Input<O> = { params: Parsed<O, 'params'>; query: Parsed<O, 'query'>; body: Parsed<O, 'body'> }
type Result<O extends Operation> = Results<O extends { response: unknown } ? z.input<O['response']> : never>

type AnyInput = { params?: unknown; query?: unknown; body?: unknown }
type Bound<K extends Kind> = {
  operation: Extract<Operation, { kind: K }>
  handle(asker: Askers[K], input: AnyInput, exchange: Exchanges[K], prepared: unknown): Promise<Results<unknown>[K]>
  prepare?(ctx: Ctx, input: AnyInput): Promise<unknown>
}
export type Route = { [K in Kind]: Bound<K> }[Kind]

/**
 * Binds a contract operation to its handler; callers with a publishable key always get `{}`. `prepare` runs before the
 * `Idempotency-Key` transaction, so that network calls don't extend that transaction.
 */
export function route<O extends Operation, X>(
  operation: O,
  handle: (
    asker: Askers[O['kind']],
    input: Input<O>,
    exchange: Exchanges[O['kind']],
    prepared: X,
  ) => Promise<Result<O>[O['kind']]>,
  prepare?: (ctx: Ctx, input: Input<O>) => Promise<X>,
): Route {
  return { operation, handle, prepare } as unknown as Route
}

export type Serving = {
  platform: Platform
  limiter: RateLimiter
  /** Open event streams; `serve` does not close them, its caller does. */
  streams?: Streams
  /** Authenticates a request. It is passed in, because platform code can't import the feature that stores API keys. */
  openContext(platform: Platform, credentials: Credentials): Promise<Omit<Ctx, 'requestId'>>
}
type Guarded = Required<Serving> & {
  readAddress: AddressReader
  unauthenticated: UnauthenticatedLimit
  admission: Admission
}

const crossOrigin = cors({
  origin: '*',
  allowMethods: ['POST', 'OPTIONS'],
  allowHeaders: ['Content-Type', 'Authorization', 'Idempotency-Key'],
  maxAge: 86_400,
})
// Responses to publishable keys are sent at multiples of 50 ms, so that their timing reveals nothing.
const pageAnswerStepMs = 50

export function serve(routes: Route[], given: Serving): App {
  const app: App = new Hono<Bindings>()
  const { config } = given.platform
  const serving: Guarded = {
    ...given,
    streams: given.streams ?? openStreams(given.platform),
    readAddress: openAddressReader(config.TRUSTED_PROXIES),
    unauthenticated: openUnauthenticatedLimit(given.limiter, config),
    admission: openAdmission(given.platform),
  }
  app.use(async (c, next) => {
    c.set('requestId', readRequestId(c))
    c.set('headers', {})
    requireEncryption(c, serving)
    await next()
    c.header('X-Request-Id', c.var.requestId)
  })
  for (const { operation } of routes) if (isForPages(operation)) app.use(operation.path, crossOrigin)
  for (const route of routes) {
    const path = route.operation.path.replaceAll(/\{(\w+)\}/g, ':$1')
    app.on(route.operation.method, path, (c) => answer(c, route, serving))
  }
  app.notFound(async (c) => {
    const refused = await unknownPath(c, serving).catch((error: unknown) => error)
    return respondWith(c, serving.platform, refused)
  })
  app.onError((error, c) => respondWith(c, serving.platform, error))
  return app
}

function isForPages(operation: Operation): boolean {
  return operation.kind === 'browser' || (operation.kind === 'json' && operation.isForPages === true)
}

const answerKinds: { [K in Kind]: (c: Request, route: Bound<K>, serving: Guarded) => Promise<Response> } = {
  json: answerJson,
  stream: answerStream,
  public: answerPublic,
  browser: answerBrowser,
}

/** Handles, traces and measures one request. */
async function answer(c: Request, route: Route, serving: Guarded): Promise<Response> {
  const { operation } = route
  const { platform } = serving
  const started = performance.now()
  const answerKind = answerKinds[operation.kind] as (c: Request, route: Route, serving: Guarded) => Promise<Response>
  const asked = { ...operation, requestId: c.var.requestId, traceparent: c.req.header('traceparent') }
  const response = await tracedRequest(platform, asked, () =>
    answerKind(c, route, serving).catch((error: unknown) => respondWith(c, platform, error)),
  )
  const labels = { operation: operation.id, status: String(response.status) }
  platform.metrics.requests.observe(labels, (performance.now() - started) / 1000)
  return response
}

async function answerJson(
  c: Request,
  { operation, handle, prepare }: Bound<'json'>,
  serving: Guarded,
): Promise<Response> {
  const started = performance.now()
  const ctx = await authorize(c, operation, serving)
  const isWrite = operation.method !== 'get'
  // A POST that only reads, such as a batch of analytics, changes nothing that a repeat could double.
  const isChange = isWrite && !operation.scope.endsWith('.read')
  const key = isChange ? parseIdempotencyKey(c.req.header('idempotency-key')) : undefined
  const params = parse(operation.params, c.req.param(), 'path')
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  using slots = new DisposableStack()
  const hasBody = isWrite && takesBody(operation)
  if (hasBody)
    slots.defer(serving.admission.reserve(findSender(c, serving, ctx), announcedBytes(c.env.incoming, operation)))
  const bytes = hasBody ? await readBody(c.env.incoming, operation, ctx.config) : undefined
  slots.defer(await serving.admission.enter(ctx, operation.limit))
  const body = isWrite ? parse(operation.body, bytes && parseJson(bytes, operation), 'body') : undefined
  const { isPublishable } = ctx.actor
  const inShare = <R>(work: () => Promise<R>) => asTenant(ctx.workspaceId, work)
  const prepared = prepare && (await inShare(() => prepare(ctx, { params, query, body })))
  const work = async (ctx: Ctx) => {
    const result = await handle(ctx, { params, query, body }, openExchange(c, serving), prepared)
    return (isPublishable ? {} : operation.response.parse(result)) as object
  }
  const paced = async <R>(outcome: Promise<R>) => {
    const result = await outcome
    if (!isPublishable) return result
    slots.dispose()
    await sleep(pageAnswerStepMs - ((performance.now() - started) % pageAnswerStepMs))
    return result
  }
  if (key === undefined && isPublishable) {
    return c.json(await paced(inShare(() => work(ctx))), operation.status, c.var.headers)
  }
  if (key === undefined) return sendJson(c, serving, operation.status, await inShare(() => work(ctx)), slots.move())
  const { pathname, search } = new URL(c.req.url)
  const hash = requestHash([c.req.method, pathname, search, bytes ?? ''])
  const asked = { key, hash }
  const { status, text, isReplayed } = await paced(
    inShare(() =>
      withIdempotency(ctx, asked, async (ctx) => ({
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

/** Sends JSON, streaming large lists; frees the request's concurrency slot and memory after the last byte. */
function sendJson(
  c: Request,
  { platform }: Serving,
  status: JsonOperation['status'],
  value: object,
  slots: DisposableStack,
): Response {
  const headers = { ...c.var.headers, 'Content-Type': 'application/json' }
  const text = serialize(value)
  if (text !== undefined) {
    slots.dispose()
    return c.newResponse(text, status, headers)
  }
  const body = streamList(value as unknown[], {
    stallMs: platform.config.STREAM_STALL_MS,
    cut: () => c.env.outgoing?.destroy(),
    ended: () => slots.dispose(),
  })
  return c.newResponse(body, status, headers)
}

function openExchange(c: Request, { platform }: Serving): Exchange {
  return {
    get url() {
      const { pathname, search } = new URL(c.req.url)
      return new URL(platform.config.API_URL.replace(/\/+$/, '') + pathname + search)
    },
    header: (name) => c.req.header(name) ?? '',
    setHeader: (name, value) => c.set('headers', { ...c.var.headers, [name]: value }),
  }
}

async function answerStream(c: Request, { operation, handle }: Bound<'stream'>, serving: Guarded): Promise<Response> {
  const ctx = await authorize(c, operation, serving)
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  const exchange = openExchange(c, serving)
  const start = (signal: AbortSignal) =>
    asTenant(ctx.workspaceId, () => handle(ctx, { query }, { ...exchange, signal }, undefined))
  const credentials = readCredentials(c)
  const recheck = async () => requirePermission(await serving.openContext(serving.platform, credentials), operation)
  const { headers, body } = await serving.streams.open(ctx, operation, start, () => c.env.outgoing?.destroy(), recheck)
  return c.newResponse(body, 200, { ...c.var.headers, ...headers })
}

async function answerPublic(c: Request, { operation, handle }: Bound<'public'>, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  const query = parse(operation.query, readQuery(c.req.queries()), 'query')
  const { body, status, headers } = await handle(findCaller(c, serving), { query }, openExchange(c, serving), undefined)
  return c.newResponse(body, status, { ...c.var.headers, ...headers })
}

async function answerBrowser(c: Request, { operation, handle }: Bound<'browser'>, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  using slots = new DisposableStack()
  slots.defer(serving.admission.reserve(findSender(c, serving), announcedBytes(c.env.incoming, operation)))
  const bytes = await readBody(c.env.incoming, operation, serving.platform.config)
  const body = parse(operation.body, parseJson(bytes, operation), 'body')
  const result = await handle(findCaller(c, serving), { body }, openExchange(c, serving), undefined)
  return c.json(operation.response.parse(result) as object, 200, c.var.headers)
}

function findCaller(c: Request, { readAddress }: Guarded): Caller {
  return { ...readVisitor(c.env.incoming, readAddress), page: pageOrigin(c) }
}

async function limitVisitor(
  c: Request,
  operation: { id: string; requestsPerMinute: number },
  serving: Guarded,
): Promise<void> {
  const { platform, limiter } = serving
  const allowance = { limit: operation.requestsPerMinute, windowSeconds: 60 }
  const verdict = await limiter(`${operation.id}:${readNetwork(c, serving)}`, allowance, platform.now())
  c.set('headers', limitHeaders(verdict))
  if (!verdict.allowed) {
    platform.metrics.limited.inc({ plan: 'none', limit: operation.id })
    throw tooMany(verdict)
  }
}

function readNetwork(c: Request, { readAddress }: Guarded): string {
  return clientNetwork(readClient(c.env.incoming, readAddress).ip)
}

/** Counts requests with a publishable key as a visitor's, so that visitors can't use up the workspace's own memory. */
function findSender(c: Request, serving: Guarded, ctx?: Ctx): Sender {
  if (ctx && !ctx.actor.isPublishable) return { kind: 'workspace', name: ctx.workspaceId, plan: ctx.plan }
  return { kind: 'visitor', name: readNetwork(c, serving), plan: ctx?.plan ?? 'none' }
}

/** Returns the calling page's host; some pages send no `Referer` and some browsers no `Origin`. */
function pageOrigin(c: Request): string {
  const address = URL.parse(c.req.header('referer') ?? '') ?? URL.parse(c.req.header('origin') ?? '')
  return (address?.hostname ?? '').replace(/^www\./, '')
}

function requireEncryption(c: Request, { platform: { config }, readAddress }: Guarded): void {
  const client = readClient(c.env.incoming, readAddress)
  if (client.secure || (config.ENVIRONMENT === 'development' && client.loopback)) return
  throw forbidden(`Unencrypted HTTP is not supported. Use ${config.API_URL.replace(/^http:/, 'https:')}.`)
}

/** Authenticates the caller and checks its permission for the operation. */
async function authorize(c: Request, operation: Access & { path: string }, serving: Guarded): Promise<Ctx> {
  const ctx = await identify(c, operation.limit, serving)
  if (ctx.actor.kind === 'user' && c.req.method !== 'GET') {
    requireSameOrigin((name) => c.req.header(name), ctx.config.API_URL)
  }
  requirePermission(ctx, operation)
  return ctx
}

function readCredentials(c: Request): Credentials {
  return {
    authorization: c.req.header('authorization'),
    cookie: c.req.header('cookie'),
    workspace: c.req.header('tributary-workspace'),
    page: pageOrigin(c),
  }
}

/** Authenticates the caller; every request counts against its rate limit, even one that is rejected later. */
async function identify(c: Request, limit: Access['limit'], serving: Guarded): Promise<Ctx> {
  const { platform, openContext, limiter, unauthenticated } = serving
  const network = readNetwork(c, serving)
  const credentials = { ...readCredentials(c), isSuspect: unauthenticated.isUsedUp(network) }
  const found = await openContext(platform, credentials).catch(async (error) => {
    if (error instanceof AppError && error.code === 'unauthorized') await limitUnauthenticated(c, network, serving)
    throw error
  })
  const ctx = { ...found, requestId: c.var.requestId }
  const { isPublishable, id } = ctx.actor
  c.set('actor', ctx.actor)
  const now = ctx.now()
  const allowance = findAllowance(ctx.plan, limit, ctx.config)
  const verdict = isPublishable
    ? await limitPublishable(limiter, { keyId: id, network, config: ctx.config, now })
    : await limiter(limit === 'export' ? `export:${id}` : id, allowance, now)
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

function takesBody({ body }: Pick<JsonOperation, 'body'>): boolean {
  return body.def.type !== 'undefined'
}

function readRequestId(c: Request): string {
  const given = c.req.header('x-request-id')
  return given && /^[\w.-]{1,100}$/.test(given) ? given : randomUUID()
}

/** Returns 404 only to clients with a valid key, so that others can't find out which paths exist. */
async function unknownPath(c: Request, serving: Guarded): Promise<AppError> {
  // Documentation pages are public.
  if (!c.req.path.startsWith('/docs/')) await identify(c, 'standard', serving)
  return new AppError('not_found', `There is no ${c.req.method} ${c.req.path}. See /docs/reference for all operations.`)
}

/** Converts any error to an HTTP response. */
function respondWith(c: Request, { config, log, metrics }: Platform, error: unknown): Response {
  const known = knownProblem(error)
  if (error instanceof PoolBusyError) {
    c.set('headers', { ...c.var.headers, 'Retry-After': '1' })
    metrics.limited.inc({ plan: 'none', limit: 'connections' })
  }
  const { requestId, actor } = c.var
  const request = { requestId, actor: actor && formatActor(actor), path: withoutNames(c.req.path) }
  if (!known) log.error({ error, ...request, method: c.req.method }, 'request failed')
  else log.debug({ code: known.code, message: withoutNames(known.message), ...request }, 'request refused')
  const shown =
    known ??
    new AppError('internal_server_error', `The server failed. Its log has the cause under request ${requestId}.`)
  return c.json(errorEnvelope(shown, config.API_URL), shown.status, {
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
  if (isDeadlock(error)) return conflict('Other requests are changing the same objects right now. Try again.')
  if (!isTimedOut(error) && !isOverloaded(error)) return undefined
  return new AppError('rate_limit_exceeded', 'The database query timed out. Narrow the query, or try again later.')
}

/** Removes ids from a text: clients choose them, they may identify a person, and logs outlive an erasure. */
function withoutNames(text: string): string {
  return text.replaceAll(/\bext_[^\s/]+/g, 'ext_…')
}
