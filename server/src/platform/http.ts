import { randomUUID } from 'node:crypto'
import type { BodyLimits, JsonOperation, Operation } from '@tributary/contract/operation'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import type { z } from 'zod'
import { openAdmission, serialize, streamList } from './answers.ts'
import { announcedBytes, hasUnreadBody, parseJson, readBody } from './body.ts'
import {
  authorize,
  type Bindings,
  type Caller,
  findCaller,
  findSender,
  type Guarded,
  idempotencyOwner,
  identify,
  limitVisitor,
  type Request,
  readCredentials,
  readNetwork,
  requireEncryption,
  type Serving,
  tenantName,
} from './callers.ts'
import { isOverloaded } from './clickhouse.ts'
import { openAddressReader } from './client-address.ts'
import { sleep } from './clock.ts'
import { type Ctx, formatActor, type Platform, requirePermission } from './context.ts'
import { AppError, badRequest, conflict, errorEnvelope, forbidden } from './errors.ts'
import { parseIdempotencyKey, requestHash, withIdempotency } from './idempotency.ts'
import { asTenant, isDeadlock, isTimedOut, PoolBusyError } from './postgres.ts'
import { openUnauthenticatedLimit } from './rate-limit.ts'
import { isRecorded, openRecord, recordExport, recordWrite } from './recording.ts'
import { openStreams, type Streamed } from './streams.ts'
import { tracedRequest } from './tracing.ts'
import { parse, readQuery } from './validation.ts'

export type App = Hono<Bindings>

type Kind = Operation['kind']
export type Bytes = {
  body: Uint8Array<ArrayBuffer> | null
  status: 200 | 304 | 404 | 503
  headers: Record<string, string>
}
type Exchange = {
  /** The request URL below API_URL, as the client sees it. */
  url: URL
  /** Returns a request header, or the empty string. */
  header(name: string): string
  setHeader(name: string, value: string): void
  /** Makes the response that of a dry run, with the operation's status for it. */
  markDryRun(): void
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
  isGrouped?: boolean
}
export type Route = { [K in Kind]: Bound<K> }[Kind]

/**
 * Binds a contract operation to its handler; callers with a publishable key always get `{}`. `prepare` runs before the
 * transaction of a write, so that network calls don't extend that transaction. With `isGrouped`, the service itself
 * records the write, in a statement or transaction that concurrent requests share.
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
  { isGrouped = false } = {},
): Route {
  return { operation, handle, prepare, isGrouped } as unknown as Route
}

const crossOrigin = cors({
  origin: '*',
  allowMethods: ['POST', 'OPTIONS'],
  allowHeaders: ['Content-Type', 'Authorization', 'Idempotency-Key'],
  maxAge: 86_400,
})
const withoutKeys =
  'The header `Idempotency-Key` is for operations of a workspace. Send this request without the header.'
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
  { operation, handle, prepare, isGrouped }: Bound<'json'>,
  serving: Guarded,
): Promise<Response> {
  const started = performance.now()
  const ctx = await authorize(c, operation, serving)
  const isWrite = operation.method !== 'get'
  // A POST that only reads, such as a batch of analytics, changes nothing that a repeat could double.
  const isChange = isWrite && !operation.scope.endsWith('.read')
  const key = isChange ? parseIdempotencyKey(c.req.header('idempotency-key')) : undefined
  if (key !== undefined && ctx.workspaceId === '') throw badRequest(withoutKeys)
  const params = parse(operation.params, c.req.param(), 'path')
  const query = parse(operation.query, readQuery(c.req.url), 'query')
  using slots = new DisposableStack()
  const hasBody = isWrite && takesBody(operation)
  if (hasBody)
    slots.defer(serving.admission.reserve(findSender(c, serving, ctx), announcedBytes(c.env.incoming, operation)))
  const bytes = hasBody ? await readBody(c.env.incoming, operation, ctx.config) : undefined
  slots.defer(await serving.admission.enter({ workspaceId: tenantName(ctx), plan: ctx.plan }, operation.limit))
  const body = isWrite ? parse(operation.body, bytes && parseJson(bytes, operation), 'body') : undefined
  const { isPublishable } = ctx.actor
  const inShare = <R>(work: () => Promise<R>) => asTenant(tenantName(ctx), work)
  const prepared = prepare && (await inShare(() => prepare(ctx, { params, query, body })))
  const handled = async (ctx: Ctx) => {
    const result = await handle(ctx, { params, query, body }, openExchange(c, serving), prepared)
    return (isPublishable ? {} : operation.response.parse(result)) as object
  }
  const findStatus = () => (c.var.isDryRun && operation.dryRunStatus) || operation.status
  const { recorder } = serving
  const begin = () => openRecord(recorder, ctx, operation, readNetwork(c, serving))
  const record = isRecorded(operation) ? await inShare(begin) : undefined
  const performed = { params, query, body, isGrouped }
  const work = async (ctx: Ctx) =>
    record ? recordWrite(recorder, { ...ctx, record }, performed, handled) : handled(ctx)
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
  if (key === undefined) {
    const result = await inShare(() => work(ctx))
    return sendJson(c, serving, findStatus(), result, slots.move())
  }
  const { pathname, search } = new URL(c.req.url)
  const hash = requestHash([c.req.method, pathname, search, bytes ?? '', ...idempotencyOwner(ctx.actor, operation)])
  const asked = { key, hash }
  const { status, text, isReplayed } = await paced(
    inShare(() =>
      withIdempotency(ctx, asked, async (ctx) => {
        const text = JSON.stringify(await work(ctx))
        return { status: findStatus(), text }
      }),
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
  // Personal: a browser must not show it after the sign-out.
  const headers = { 'Cache-Control': 'no-store', ...c.var.headers, 'Content-Type': 'application/json' }
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
    markDryRun: () => c.set('isDryRun', true),
  }
}

async function answerStream(c: Request, { operation, handle }: Bound<'stream'>, serving: Guarded): Promise<Response> {
  const ctx = await authorize(c, operation, serving)
  const params = operation.params && parse(operation.params, c.req.param(), 'path')
  const query = parse(operation.query, readQuery(c.req.url), 'query')
  const exchange = openExchange(c, serving)
  const begin = (signal: AbortSignal) => (ctx: Ctx) =>
    handle(ctx, { params, query }, { ...exchange, signal }, undefined)
  const start = (signal: AbortSignal) =>
    asTenant(tenantName(ctx), () =>
      operation.limit === 'export'
        ? recordExport(serving.recorder, ctx, operation, { query, network: readNetwork(c, serving) }, begin(signal))
        : begin(signal)(ctx),
    )
  const credentials = readCredentials(c, operation)
  const recheck = async () => {
    const present = await serving.openContext(serving.platform, credentials)
    requirePermission(present, operation)
    if (formatAccess(present) !== formatAccess(ctx)) throw forbidden('Your permissions have changed. Connect again.')
  }
  const { headers, body } = await serving.streams.open(ctx, operation, start, () => c.env.outgoing?.destroy(), recheck)
  return c.newResponse(body, 200, { ...c.var.headers, ...headers })
}

/** What a caller sees in a workspace: a stream that began with more must end. */
function formatAccess({ actor, folderAccess }: Pick<Ctx, 'actor' | 'folderAccess'>): string {
  return JSON.stringify([[...actor.scopes].sort(), folderAccess])
}

async function answerPublic(c: Request, { operation, handle }: Bound<'public'>, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  using slots = new DisposableStack()
  const input = {
    params: operation.params && parse(operation.params, c.req.param(), 'path'),
    query: parse(operation.query, readQuery(c.req.url), 'query'),
    body: operation.method === 'post' ? await readVisitorBody(c, operation, serving, slots) : undefined,
  }
  const { body, status, headers } = await handle(findCaller(c, serving), input, openExchange(c, serving), undefined)
  return c.newResponse(body, status, { ...c.var.headers, ...headers })
}

async function answerBrowser(c: Request, { operation, handle }: Bound<'browser'>, serving: Guarded): Promise<Response> {
  await limitVisitor(c, operation, serving)
  using slots = new DisposableStack()
  const body = await readVisitorBody(c, operation, serving, slots)
  const result = await handle(findCaller(c, serving), { body }, openExchange(c, serving), undefined)
  return c.json(operation.response.parse(result) as object, 200, c.var.headers)
}

/** Reads and validates a request body; `slots` frees the visitor's memory for it. */
async function readVisitorBody(
  c: Request,
  operation: BodyLimits & Pick<JsonOperation, 'body'>,
  serving: Guarded,
  slots: DisposableStack,
): Promise<unknown> {
  slots.defer(serving.admission.reserve(findSender(c, serving), announcedBytes(c.env.incoming, operation)))
  const bytes = await readBody(c.env.incoming, operation, serving.platform.config)
  return parse(operation.body, parseJson(bytes, operation), 'body')
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
  if (!c.req.path.startsWith('/docs/')) await identify(c, { path: '', limit: 'standard', workspace: 'none' }, serving)
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
