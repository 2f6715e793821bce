import { z } from 'zod'
import type { Role, Scope } from './permissions.ts'

/** Every error code of the API with its HTTP status, one to one. */
export const errorStatuses = {
  bad_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  invite_expired: 410,
  unprocessable_entity: 422,
  rate_limit_exceeded: 429,
  internal_server_error: 500,
} as const
export type ErrorCode = keyof typeof errorStatuses
export const errorCodes = Object.keys(errorStatuses) as ErrorCode[]

export const plans = ['free', 'pro', 'business', 'advanced', 'enterprise'] as const
export type Plan = (typeof plans)[number]

/** Callers: an API key, a signed-in user, an app for a user, an embedded partner page, a partner, the server. */
export const actorKinds = ['key', 'user', 'app', 'embed', 'partner', 'system'] as const
export type ActorKind = (typeof actorKinds)[number]
/** Default actors: they may call any operation that does not list its own actors. */
export const defaultActors = ['key', 'user', 'app'] as const satisfies ActorKind[]

type Shared = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  description?: string
  tag: string
}

/** The scope, plan and rate limit of an operation. */
export type Access = {
  actors: readonly ActorKind[]
  scope: Exclude<Scope, 'apis.all' | 'apis.read'>
  /** Which of the plan's rate limits applies. */
  limit: 'standard' | 'analytics' | 'export'
  /** The lowest plan that includes this operation. */
  plan: Plan
  /** `none`: a signed-in user calls the operation without a workspace. */
  workspace?: 'none'
  /** The roles whose users may call the operation, if the scope is not enough. */
  roles?: readonly Role[]
  /** Whether the operation is about the calling user, so that machine keys can't call it. */
  needsUser?: true
  /** Whether the operation can't be undone, so that a user must have signed in a few minutes ago. */
  needsFreshSession?: true
  /** Whether the audit log has entries of the operation; the default is true for writes whose scope is not `.read`. */
  isAudited?: boolean
}

/** Limits of an operation's request body. */
export type BodyLimits = {
  /** Maximum bytes of the body; the setting BODY_LIMIT_BYTES may be lower. */
  bodyLimit: number
  /** Maximum number of strings, numbers, arrays and objects in the body. */
  bodyValues: number
}

/** An operation that takes and returns JSON. */
export type JsonOperation = Shared &
  Access &
  BodyLimits & {
    kind: 'json'
    /** Whether web pages may call the operation with a publishable key; the response is then always `{}`. */
    isForPages?: boolean
    params: z.ZodObject
    query: z.ZodObject
    body: z.ZodType
    status: 200 | 201 | 202
    /** The status of a request that only shows what it would change. */
    dryRunStatus?: 200
    response: z.ZodType
    /** Request headers that the operation reads, besides those of every operation. */
    headers?: z.ZodObject
    /** Response headers of this operation alone, with their descriptions. */
    responseHeaders?: Readonly<Record<string, string>>
  }

/** An operation that streams its response, for as long as the client reads. */
export type StreamOperation = Shared &
  Access & {
    kind: 'stream'
    method: 'get'
    /** Names in the path, if it has some. */
    params?: z.ZodObject
    query: z.ZodObject
    /** Request headers that the operation reads. */
    headers?: z.ZodObject
    /** Media types of the response. */
    contents: readonly string[]
    /** Maximum open streams per caller and server process. */
    openPerActor: number
  }

/** An operation without credentials that returns bytes, or JSON if it has a `response` schema. */
export type PublicOperation = Shared & {
  kind: 'public'
  params?: z.ZodObject
  query: z.ZodObject
  /** Request headers that the operation reads. */
  headers?: z.ZodObject
  /** Media types of the response. */
  contents: readonly string[]
  response?: z.ZodType
  /** Rate limit per visitor. */
  requestsPerMinute: number
} & ({ method: 'get' } | ({ method: 'post'; body: z.ZodType } & BodyLimits))

/** An operation without credentials that apps and web pages of any site call; takes and returns JSON. */
export type BrowserOperation = Shared &
  BodyLimits & {
    kind: 'browser'
    method: 'post'
    body: z.ZodType
    response: z.ZodType
    /** Rate limit per visitor. */
    requestsPerMinute: number
    /** Errors besides those that every operation of this kind has. */
    errors?: readonly ErrorCode[]
  }

/** An endpoint. `kind` determines who may call it and how it responds. */
export type Operation = JsonOperation | StreamOperation | PublicOperation | BrowserOperation

const none = z.object({})

/** Default body limits, for operations without their own; 10,000 characters of metadata have 5,000 values. */
export const defaultBody = { bodyLimit: 65_536, bodyValues: 8_000 } as const

const defaults = {
  kind: 'json',
  actors: defaultActors,
  limit: 'standard',
  plan: 'free',
  status: 200,
  params: none,
  query: none,
  body: z.undefined(),
  ...defaultBody,
} as const

type Stated = Omit<JsonOperation, keyof typeof defaults> & Partial<JsonOperation>

/** Defines a JSON operation, which the server, the OpenAPI document and the client use. */
export function operation<const Given extends Stated>(given: Given): Given & Omit<typeof defaults, keyof Given> {
  return { ...defaults, ...given }
}

export const errorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes).describe('Machine-readable error code.'),
      message: z.string().describe('Human-readable message: what is wrong, where, and what to do.'),
      doc_url: z.url().describe('URL of a page that explains the error code.'),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorEnvelope = z.infer<typeof errorEnvelope>
