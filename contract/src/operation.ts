import { createRoute, z } from '@hono/zod-openapi'

/** Every error the API gives: the code decides the status, one to one. */
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

export type Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Response extends z.ZodType = z.ZodType,
> = {
  id: string
  method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  path: string
  summary: string
  description?: string
  tag: string
  /** What a key must be allowed to do. */
  scope: Exclude<Scope, 'apis.all' | 'apis.read'>
  /** Which of the rate limits of the plan applies. */
  limit: 'standard' | 'analytics' | 'export'
  /** The lowest plan that has this operation. */
  plan: Plan
  /** Whether pages of other sites may call it, with a publishable key; the answer to such a key is `{}`. */
  isForPages?: boolean
  params: Params
  query: Query
  body: Body
  /** Bytes of the largest body that it takes; the server's own limit may be lower. */
  bodyLimit: number
  /** Values in the largest body that it takes: texts, numbers, arrays, objects. */
  bodyValues: number
  status: 200 | 201 | 202
  response: Response
  /** What each header of the answer means, besides those that every answer has. */
  responseHeaders?: Record<string, string>
}

type OperationInput<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType> = Pick<
  Operation<P, Q, B, R>,
  'id' | 'method' | 'path' | 'summary' | 'tag' | 'scope' | 'response'
> &
  Partial<Operation<P, Q, B, R>>

const none = z.object({})

/** Room for every legal body of an operation that states no other limits; 10,000 characters of metadata have 5,000 values. */
export const defaultBody = { bodyLimit: 65_536, bodyValues: 8_000 } as const

/** States one endpoint. Server, OpenAPI document and client all read this. */
export function operation<
  R extends z.ZodType,
  P extends z.ZodObject = typeof none,
  Q extends z.ZodObject = typeof none,
  B extends z.ZodType = z.ZodUndefined,
>(input: OperationInput<P, Q, B, R>): Operation<P, Q, B, R> {
  return {
    limit: 'standard',
    plan: 'free',
    status: 200,
    params: none as unknown as P,
    query: none as unknown as Q,
    body: z.undefined() as unknown as B,
    ...defaultBody,
    ...input,
  }
}

/** An endpoint that is open to everyone and answers with bytes, not JSON. */
export type OpenOperation<Query extends z.ZodObject = z.ZodObject> = {
  id: string
  method: 'get'
  path: string
  summary: string
  description?: string
  tag: string
  query: Query
  /** Headers that it reads. */
  headers?: z.ZodObject
  /** The media types it can answer with. */
  contents: string[]
  /** The shape of an answer in JSON. */
  response?: z.ZodType
  /** For each visitor. */
  requestsPerMinute: number
}

/** An endpoint that needs a key and answers bit by bit with something other than JSON, for as long as it takes. */
export type StreamOperation<Query extends z.ZodObject = z.ZodObject> = Pick<
  Operation,
  'id' | 'path' | 'summary' | 'description' | 'tag' | 'scope' | 'limit' | 'plan'
> & {
  method: 'get'
  query: Query
  /** Headers besides the key that it reads. */
  headers?: z.ZodObject
  /** The media types it can answer with. */
  contents: string[]
  /** How many answers one key may have open at a time, for each process of the server. */
  openPerKey: number
}

/** An endpoint that pages of any site and apps call without a key. It takes and gives JSON. */
export type BrowserOperation<Body extends z.ZodType = z.ZodType, Response extends z.ZodType = z.ZodType> = {
  id: string
  method: 'post'
  path: string
  summary: string
  description?: string
  tag: string
  body: Body
  /** Bytes of the largest body that it takes. */
  bodyLimit: number
  /** Values in the largest body that it takes. */
  bodyValues: number
  response: Response
  /** For each visitor. */
  requestsPerMinute: number
}

export const errorEnvelope = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(errorCodes).describe('What went wrong, for programs.'),
      message: z.string().describe('What went wrong, where, and what to do, for people.'),
      doc_url: z.url().describe('A page that explains the code.'),
    }),
  })
  .meta({ id: 'Error' })
export type ErrorEnvelope = z.infer<typeof errorEnvelope>

const errorConditions: Record<ErrorCode, string> = {
  bad_request: 'The request is malformed: a required field is missing, a type is wrong, or the syntax is broken.',
  unauthorized: 'No valid API key or access token was sent.',
  forbidden: 'The key is valid but may not do this.',
  not_found: 'Nothing is there, or it belongs to another workspace.',
  conflict: 'Another resource already uses this identifier.',
  invite_expired: 'The invite has expired.',
  unprocessable_entity: 'The types are right but a value is not allowed.',
  rate_limit_exceeded: 'Too many requests for the plan of this key.',
  internal_server_error: 'The server failed. The request id in the message finds the cause in its log.',
}

const writeHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'Of your choice, new for each request: a repeat with it gets the same answer for 24 hours, and does nothing.',
    ),
})

const nothing = z
  .strictObject({})
  .describe('What a publishable key gets, whatever was found or recorded.')
  .meta({ id: 'PublishableResult' })

/** The same operation as a route definition of OpenAPI. */
export function routeOf(operation: Operation) {
  const hasBody = !(operation.body instanceof z.ZodUndefined)
  const needsBody = !operation.body.safeParse(undefined).success
  return createRoute({
    ...nameOf(operation),
    ...accessOf(operation),
    security: [{ token: [] }],
    request: {
      params: operation.params,
      query: operation.query,
      ...(operation.method !== 'get' && { headers: writeHeaders }),
      ...(hasBody && { body: { required: needsBody, ...bodyContent(operation) } }),
    },
    responses: {
      [operation.status]: {
        description: 'The operation was successful.',
        headers: { ...rateLimitHeaders, ...textHeaders(operation.responseHeaders) },
        content: {
          'application/json': {
            schema: operation.isForPages ? z.union([operation.response, nothing]) : operation.response,
          },
        },
      },
      ...errorResponses(errorCodes),
    },
  })
}

export function openRouteOf(operation: OpenOperation) {
  const refusals = ['bad_request', 'forbidden', 'unprocessable_entity', 'rate_limit_exceeded'] as const
  const inJson = ['unauthorized', 'not_found'] as const
  const bytes = { schema: { type: 'string' as const, format: 'binary' } }
  const { response } = operation
  return createRoute({
    ...nameOf(operation),
    security: [],
    request: { query: operation.query, ...(operation.headers && { headers: operation.headers }) },
    responses: {
      200: {
        description: 'The operation was successful.',
        headers: rateLimitHeaders,
        content: response
          ? { 'application/json': { schema: response } }
          : Object.fromEntries(operation.contents.map((type) => [type, bytes])),
      },
      ...(!response && { 304: { description: 'What the client has (`If-None-Match`) is still right.' } }),
      ...errorResponses([...refusals, ...(response ? inJson : []), 'internal_server_error']),
    },
  })
}

export function streamRouteOf(operation: StreamOperation) {
  const text = { schema: { type: 'string' as const } }
  return createRoute({
    ...nameOf(operation),
    ...accessOf(operation),
    security: [{ token: [] }],
    request: { query: operation.query, ...(operation.headers && { headers: operation.headers }) },
    responses: {
      200: {
        description: 'The operation was successful.',
        headers: rateLimitHeaders,
        content: Object.fromEntries(operation.contents.map((type) => [type, text])),
      },
      ...errorResponses(errorCodes),
    },
  })
}

export function browserRouteOf(operation: BrowserOperation) {
  const refusals = ['bad_request', 'forbidden', 'not_found', 'unprocessable_entity', 'rate_limit_exceeded'] as const
  return createRoute({
    ...nameOf(operation),
    security: [],
    request: { body: { required: true, ...bodyContent(operation) } },
    responses: {
      200: {
        description: 'The operation was successful.',
        headers: rateLimitHeaders,
        content: { 'application/json': { schema: operation.response } },
      },
      ...errorResponses([...refusals, 'internal_server_error']),
    },
  })
}

/** How the document names it; the same for every kind. */
function nameOf<Method extends string>(
  operation: Pick<Operation, 'id' | 'path' | 'summary' | 'description' | 'tag'> & { method: Method },
) {
  const { id: operationId, method, path, summary, description, tag } = operation
  return { operationId, method, path, summary, description, tags: [tag] }
}

function bodyContent({ body, bodyLimit, bodyValues }: Pick<Operation, 'body' | 'bodyLimit' | 'bodyValues'>) {
  const [bytes, values] = [bodyLimit, bodyValues].map((most) => most.toLocaleString('en'))
  const description = `At most ${bytes} bytes, ${values} values and 32 levels of arrays and objects.`
  return { description, content: { 'application/json': { schema: body } } }
}

/** What a caller needs, in words for readers and as extensions for programs. */
function accessOf({ description, scope, plan, limit }: Pick<Operation, 'description' | 'scope' | 'plan' | 'limit'>) {
  const plans = plan === 'free' ? 'Available on every plan.' : `Needs the ${plan} plan or higher.`
  const access = `Needs the scope \`${scope}\`. ${plans} Counts against the ${limit} rate limit.`
  return {
    description: description === undefined ? access : `${description}\n\n${access}`,
    'x-scope': scope,
    'x-plan': plan,
    'x-rate-limit': limit,
  }
}

function errorResponses(codes: ErrorCode[]) {
  const content = { 'application/json': { schema: errorEnvelope } }
  return Object.fromEntries(
    codes.map((code) => {
      const headers = code === 'rate_limit_exceeded' ? rateLimitHeaders : undefined
      return [errorStatuses[code], { description: errorConditions[code], content, ...(headers && { headers }) }]
    }),
  )
}

function textHeaders(meanings: Record<string, string> = {}) {
  const header = (description: string) => ({ description, schema: { type: 'string' as const } })
  return Object.fromEntries(Object.entries(meanings).map(([name, meaning]) => [name, header(meaning)]))
}

const rateLimitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed in a window.', schema: { type: 'integer' as const } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' as const } },
  'X-RateLimit-Reset': {
    description: 'When this window ends, in seconds since 1970 (UTC).',
    schema: { type: 'integer' as const },
  },
  'Retry-After': { description: 'Whole seconds until the window ends.', schema: { type: 'integer' as const } },
}
