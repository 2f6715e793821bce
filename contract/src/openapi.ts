import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { OpenAPIRegistry, OpenApiGeneratorV31, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { operations } from './index.ts'
import {
  type Access,
  type BodyLimits,
  type ErrorCode,
  errorCodes,
  errorEnvelope,
  errorStatuses,
  type Operation,
} from './operation.ts'
import { triggers, webhookRoute } from './webhooks.ts'

const file = fileURLToPath(new URL('../openapi.json', import.meta.url))

export function openApiDocument(serverUrl: string) {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' })
  for (const operation of operations) registry.registerPath(describeOperation(operation))
  for (const trigger of triggers) registry.registerWebhook(webhookRoute(trigger))
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Tributary API',
      // The version of the interface, which the specification fixes; releases have their own.
      version: '0.0.1',
      description:
        'Short links with click, lead and sale tracking, and partner programs. Send an API key in the header `Authorization: Bearer <key>`. [Guides](/docs/) · [Errors](/docs/errors)',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: serverUrl }],
  })
  for (const path of Object.values(document.paths ?? {})) {
    for (const { parameters } of Object.values(path) as { parameters?: Parameter[] }[]) parameters?.forEach(flag)
  }
  return document
}

type Parameter = { deprecated?: boolean; schema?: { deprecated?: boolean } }

/** Moves `deprecated` from the schema, where zod puts it, to the parameter, where OpenAPI expects it. */
function flag(parameter: Parameter): void {
  if (!parameter.schema?.deprecated) return
  const { deprecated, ...schema } = parameter.schema
  Object.assign(parameter, { deprecated, schema })
}

const errorConditions: Record<ErrorCode, string> = {
  bad_request: 'The request is malformed: a required field is missing, a type is wrong, or the syntax is broken.',
  unauthorized: 'No valid API key or access token was sent.',
  forbidden: 'The key is valid but lacks the permission for this operation.',
  not_found: 'The resource does not exist, or belongs to another workspace.',
  conflict: 'Another resource already uses this identifier.',
  invite_expired: 'The invite has expired.',
  unprocessable_entity: 'The types are right but a value is not allowed.',
  rate_limit_exceeded: 'Too many requests: the rate limit is exceeded.',
  internal_server_error: 'The server failed. Its log has the cause under the request id in the message.',
}

const writeHeaders = z.object({
  'Idempotency-Key': z
    .string()
    .min(1)
    .max(255)
    .optional()
    .describe(
      'A unique value per request: for 24 hours, a repeated request with the same value returns the first response and changes nothing.',
    ),
})

const nothing = z
  .strictObject({})
  .describe('The response to a publishable key, always empty so that it reveals nothing.')
  .meta({ id: 'PublishableResult' })

function describeOperation(operation: Operation): RouteConfig {
  const { id: operationId, method, path, summary, description, tag } = operation
  const needsActor = operation.kind === 'json' || operation.kind === 'stream'
  const status = operation.kind === 'json' ? operation.status : 200
  const headers = operation.kind === 'json' ? textHeaders(operation.responseHeaders) : {}
  const success = {
    description: 'The operation was successful.',
    headers: { ...rateLimitHeaders, ...headers },
    content: describeContent(operation),
  }
  const isImage = operation.kind === 'public' && !operation.response
  return {
    ...{ operationId, method, path, summary, description, tags: [tag] },
    ...(needsActor && describeAccess(operation, description)),
    security: needsActor ? [{ token: [] }] : [],
    request: describeRequest(operation),
    responses: {
      [status]: success,
      ...(operation.kind === 'json' &&
        operation.dryRunStatus && {
          [operation.dryRunStatus]: { ...success, description: 'The dry run was successful.' },
        }),
      ...(isImage && { 304: { description: "The client's copy (`If-None-Match`) is current." } }),
      ...errorResponses(possibleErrors(operation)),
    },
  }
}

function describeRequest(operation: Operation): RouteConfig['request'] {
  switch (operation.kind) {
    case 'json': {
      const { method, params, query, body, headers } = operation
      const isKeyed = method !== 'get' && operation.workspace !== 'none'
      const hasBody = !(body instanceof z.ZodUndefined)
      const required = !body.safeParse(undefined).success
      return {
        params,
        query,
        ...(isKeyed && { headers: headers ? writeHeaders.extend(headers.shape) : writeHeaders }),
        ...(hasBody && { body: { required, ...describeBody(operation) } }),
      }
    }
    case 'browser':
      return { body: { required: true, ...describeBody(operation) } }
    case 'public': {
      const { params, query, headers } = operation
      return {
        ...(params && { params }),
        query,
        ...(headers && { headers }),
        ...(operation.method === 'post' && { body: { required: true, ...describeBody(operation) } }),
      }
    }
    default:
      return {
        ...('params' in operation && { params: operation.params }),
        query: operation.query,
        ...(operation.headers && { headers: operation.headers }),
      }
  }
}

function describeBody({ body, bodyLimit, bodyValues }: BodyLimits & { body: z.ZodType }) {
  const [bytes, values] = [bodyLimit, bodyValues].map((most) => most.toLocaleString('en'))
  const description = `Request body of at most ${bytes} bytes, ${values} values and 32 levels of arrays and objects.`
  return { description, content: { 'application/json': { schema: body } } }
}

function describeContent(operation: Operation) {
  const json = (schema: z.ZodType) => ({ 'application/json': { schema } })
  switch (operation.kind) {
    case 'json':
      return json(operation.isForPages ? z.union([operation.response, nothing]) : operation.response)
    case 'browser':
      return json(operation.response)
    case 'public':
      return operation.response ? json(operation.response) : describeText(operation.contents, { format: 'binary' })
    case 'stream':
      return describeText(operation.contents)
  }
}

function describeText(contents: readonly string[], facts = {}) {
  return Object.fromEntries(contents.map((type) => [type, { schema: { type: 'string' as const, ...facts } }]))
}

function possibleErrors(operation: Operation): ErrorCode[] {
  const always = [
    'bad_request',
    'forbidden',
    'unprocessable_entity',
    'rate_limit_exceeded',
    'internal_server_error',
  ] as const
  switch (operation.kind) {
    case 'browser':
      return [...always, 'not_found', ...(operation.errors ?? [])]
    case 'public':
      return operation.response ? [...always, 'unauthorized', 'not_found'] : [...always]
    default:
      return errorCodes
  }
}

/** Describes the scope, plan and rate limit of an operation, as prose for readers and as extensions for programs. */
function describeAccess({ scope, plan, limit }: Access, description: string | undefined) {
  const plans = plan === 'free' ? 'Available on every plan.' : `Requires the ${plan} plan or higher.`
  const access = `Requires the scope \`${scope}\`. ${plans} Counts against the ${limit} rate limit.`
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

function textHeaders(texts: Record<string, string> = {}) {
  const header = (description: string) => ({ description, schema: { type: 'string' as const } })
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, header(text)]))
}

const rateLimitHeaders = {
  'X-RateLimit-Limit': { description: 'Requests allowed per rate limit window.', schema: { type: 'integer' as const } },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the current rate limit window.',
    schema: { type: 'integer' as const },
  },
  'X-RateLimit-Reset': {
    description: 'End of the rate limit window, in seconds since 1970 (UTC).',
    schema: { type: 'integer' as const },
  },
  'Retry-After': { description: 'Seconds until the rate limit window ends.', schema: { type: 'integer' as const } },
}

if (import.meta.main) {
  const text = `${JSON.stringify(openApiDocument('https://api.example.com'), null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (readFileSync(file, 'utf8') !== text) {
    console.error('contract/openapi.json is stale. Run: npm run openapi')
    process.exitCode = 1
  }
}
