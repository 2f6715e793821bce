import { z } from 'zod'

/** Every error code of the API with its status, one to one. */
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

export const scopes = [
  'apis.all',
  'apis.read',
  'links.read',
  'links.write',
  'analytics.read',
  'domains.read',
  'domains.write',
  'tags.read',
  'tags.write',
  'folders.read',
  'folders.write',
  'customers.read',
  'customers.write',
  'conversions.write',
  'webhooks.read',
  'webhooks.write',
] as const
export type Scope = (typeof scopes)[number]

/** Actors: a key, a signed-in user, an app for a user, an embedded partner page, a partner, the server itself. */
export const actorKinds = ['key', 'user', 'app', 'embed', 'partner', 'system'] as const
export type ActorKind = (typeof actorKinds)[number]
/** May call every operation that does not list its actors. */
export const defaultActors = ['key', 'user', 'app'] as const satisfies ActorKind[]

type Shared = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  description?: string
  tag: string
}

/** The scope that an actor needs to call the operation. */
export type Access = {
  actors: readonly ActorKind[]
  scope: Exclude<Scope, 'apis.all' | 'apis.read'>
  /** Which of the plan's rate limits applies. */
  limit: 'standard' | 'analytics' | 'export'
  /** The lowest plan that has this operation. */
  plan: Plan
}

/** Maximum body size of the operation. */
export type BodyLimits = {
  /** The server's own limit may be lower. */
  bodyLimit: number
  /** Texts, numbers, arrays and objects together. */
  bodyValues: number
}

/** Takes and returns JSON. */
export type JsonOperation = Shared &
  Access &
  BodyLimits & {
    kind: 'json'
    /** Whether pages of other sites may call it with a publishable key, which always gets `{}`. */
    isForPages?: boolean
    params: z.ZodObject
    query: z.ZodObject
    body: z.ZodType
    status: 200 | 201 | 202
    response: z.ZodType
    /** Response headers that only this operation has, with their descriptions. */
    responseHeaders?: Readonly<Record<string, string>>
  }

/** Streams its response, for as long as it takes. */
export type StreamOperation = Shared &
  Access & {
    kind: 'stream'
    method: 'get'
    query: z.ZodObject
    /** Request headers that it reads. */
    headers?: z.ZodObject
    /** Media types of the answer. */
    contents: readonly string[]
    /** Maximum open streams per actor and server process. */
    openPerActor: number
  }

/** Needs no credentials and returns bytes, or JSON if it has a `response`. */
export type PublicOperation = Shared & {
  kind: 'public'
  method: 'get'
  query: z.ZodObject
  /** Request headers that it reads. */
  headers?: z.ZodObject
  /** Media types of the answer. */
  contents: readonly string[]
  response?: z.ZodType
  /** Per visitor. */
  requestsPerMinute: number
}

/** Needs no credentials: pages of any site and apps call it with JSON and get JSON. */
export type BrowserOperation = Shared &
  BodyLimits & {
    kind: 'browser'
    method: 'post'
    body: z.ZodType
    response: z.ZodType
    /** Per visitor. */
    requestsPerMinute: number
  }

/** One endpoint. `kind` determines who may call it and how it responds. */
export type Operation = JsonOperation | StreamOperation | PublicOperation | BrowserOperation

const none = z.object({})

/** Fits every valid body of an operation without its own limits; 10,000 characters of metadata have 5,000 values. */
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

/** States a JSON operation. Server, OpenAPI document and client all read this. */
export function operation<const Given extends Stated>(given: Given): Given & Omit<typeof defaults, keyof Given> {
  return { ...defaults, ...given }
}

export const errorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes).describe('Machine-readable error code.'),
      message: z.string().describe('Human-readable message: what is wrong, where, and what to do.'),
      doc_url: z.url().describe('A page that explains the code.'),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorEnvelope = z.infer<typeof errorEnvelope>
