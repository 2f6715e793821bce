import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Access, ErrorCode } from '@tributary/contract/operation'
import type { Context } from 'hono'
import type { Admission, Sender } from './answers.ts'
import { type AddressReader, clientNetwork, readClient, readVisitor, type Visitor } from './client-address.ts'
import { type Actor, type Ctx, type Platform, requirePermission } from './context.ts'
import { type Credentials, requireFreshSession, requireSameOrigin } from './credentials.ts'
import { AppError, forbidden } from './errors.ts'
import {
  findAllowance,
  limitHeaders,
  limitPublishable,
  type RateLimiter,
  tooMany,
  type UnauthenticatedLimit,
} from './rate-limit.ts'
import type { Recorder } from './recording.ts'
import type { Streams } from './streams.ts'

export type Bindings = {
  Bindings: { incoming: IncomingMessage; outgoing?: ServerResponse }
  Variables: { requestId: string; headers: Record<string, string>; actor?: Actor; isDryRun?: true }
}
export type Request = Context<Bindings>

/** A visitor, and the host of the calling web page without `www.`, or an empty string without `Referer` and `Origin`. */
export type Caller = Visitor & { page: string }

export type Serving = {
  platform: Platform
  limiter: RateLimiter
  /** Open event streams; `serve` does not close them, its caller does. */
  streams?: Streams
  /** Authenticates a request. It is passed in, because platform code can't import the feature that stores API keys. */
  openContext(platform: Platform, credentials: Credentials): Promise<Omit<Ctx, 'requestId'>>
  recorder: Recorder
}
export type Guarded = Required<Serving> & {
  readAddress: AddressReader
  unauthenticated: UnauthenticatedLimit
  admission: Admission
}

type Called = Access & { path: string }

// These operations name the workspace in the path, all others in a header.
const workspacePath = '/workspaces/{idOrSlug}'
// Errors of unknown keys and workspaces; they are limited, because strangers could otherwise guess many.
const guessed: ErrorCode[] = ['unauthorized', 'not_found']

/** Authenticates the caller and checks its permission for the operation. */
export async function authorize(c: Request, operation: Called, serving: Guarded): Promise<Ctx> {
  const ctx = await identify(c, operation, serving)
  if (ctx.actor.kind === 'user' && c.req.method !== 'GET') {
    requireSameOrigin((name) => c.req.header(name), ctx.config.API_URL)
  }
  requirePermission(ctx, operation)
  if (operation.needsFreshSession) requireFreshSession(ctx)
  return ctx
}

export function readCredentials(c: Request, { path, workspace }: Pick<Called, 'path' | 'workspace'>): Credentials {
  return {
    authorization: c.req.header('authorization'),
    cookie: c.req.header('cookie'),
    workspace: path.startsWith(workspacePath) ? c.req.param('idOrSlug') : c.req.header('tributary-workspace'),
    needsWorkspace: workspace !== 'none',
    page: pageOrigin(c),
  }
}

/** Authenticates the caller; every request counts against its rate limit, even one that is rejected later. */
export async function identify(
  c: Request,
  operation: Pick<Called, 'path' | 'limit' | 'workspace'>,
  serving: Guarded,
): Promise<Ctx> {
  const { platform, openContext, limiter, unauthenticated } = serving
  const { limit } = operation
  const { ip } = readClient(c.env.incoming, serving.readAddress)
  const network = clientNetwork(ip)
  const credentials = { ...readCredentials(c, operation), ip, isSuspect: unauthenticated.isUsedUp(network) }
  const found = await openContext(platform, credentials).catch(async (error) => {
    if (error instanceof AppError && guessed.includes(error.code)) await limitUnauthenticated(c, network, serving)
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
  if (verdict.allowed) {
    await serving.recorder.noticeNetwork(ctx, network)
    return ctx
  }
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

export function findCaller(c: Request, { readAddress }: Guarded): Caller {
  return { ...readVisitor(c.env.incoming, readAddress), page: pageOrigin(c) }
}

export async function limitVisitor(
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

export function readNetwork(c: Request, { readAddress }: Guarded): string {
  return clientNetwork(readClient(c.env.incoming, readAddress).ip)
}

/** Counts requests with a publishable key as a visitor's, so that visitors can't use up the workspace's own memory. */
export function findSender(c: Request, serving: Guarded, ctx?: Ctx): Sender {
  if (ctx && !ctx.actor.isPublishable) return { kind: 'workspace', name: tenantName(ctx), plan: ctx.plan }
  return { kind: 'visitor', name: readNetwork(c, serving), plan: ctx?.plan ?? 'none' }
}

/** Names who shares memory and connections: the workspace, or the user of an operation without one. */
export function tenantName({ workspaceId, actor }: Pick<Ctx, 'workspaceId' | 'actor'>): string {
  return workspaceId || actor.id
}

/**
 * Names the actor where a repeated request of another actor must not get the stored response: users have different access
 * to folders, and a new key is for its maker only.
 */
export function idempotencyOwner(actor: Actor, { scope }: Pick<Access, 'scope'>): string[] {
  const isMachine = actor.kind === 'key' && actor.userId === undefined
  return isMachine && scope !== 'tokens.write' ? [] : [actor.id]
}

/** Returns the calling page's host; some pages send no `Referer` and some browsers no `Origin`. */
function pageOrigin(c: Request): string {
  const address = URL.parse(c.req.header('referer') ?? '') ?? URL.parse(c.req.header('origin') ?? '')
  return (address?.hostname ?? '').replace(/^www\./, '')
}

export function requireEncryption(c: Request, { platform: { config }, readAddress }: Guarded): void {
  const client = readClient(c.env.incoming, readAddress)
  if (client.secure || (config.ENVIRONMENT === 'development' && client.loopback)) return
  throw forbidden(`Unencrypted HTTP is not supported. Use ${config.API_URL.replace(/^http:/, 'https:')}.`)
}
