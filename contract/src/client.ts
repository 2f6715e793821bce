import type { z } from 'zod'
import { endpoints } from './endpoints.ts'
import type { OperationsById } from './index.ts'
import type { ErrorCode, ErrorEnvelope } from './operation.ts'

/** An error response of the API. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly headers: Headers

  constructor(response: Response, envelope: Partial<ErrorEnvelope>) {
    super(envelope.error?.message ?? `The server returned status ${response.status}.`)
    this.name = 'ApiError'
    this.status = response.status
    this.code = envelope.error?.code
    this.headers = response.headers
  }
}

type Server = {
  url: string
  /** API key. Without it the browser sends its session cookie, if `credentials` allows it. */
  token?: string
  credentials?: 'include' | 'same-origin' | 'omit'
  /** Id or slug of the workspace, which a signed-in user's calls must name. */
  workspace?: string
}

export type OperationId = keyof OperationsById
type Accepted<O, Field extends string> = Field extends keyof O ? z.input<O[Field]> : undefined
type Input<O> = {
  /** Request headers such as `If-Match` and `Idempotency-Key`. */
  headers?: Record<string, string>
  params?: Accepted<O, 'params'>
  query?: Accepted<O, 'query'>
  body?: Accepted<O, 'body'>
  signal?: AbortSignal
  /** Receives the response headers, such as `ETag`. */
  onHeaders?(headers: Headers): void
}
/** The parsed JSON, or the raw response of operations that return an image, a file or a stream. */
type Answer<O> = O extends { response: unknown } ? z.output<O['response']> : Response

export type OperationInput<I extends OperationId> = Input<OperationsById[I]>
export type OperationAnswer<I extends OperationId> = Answer<OperationsById[I]>

/** Creates a client that calls operations by id, or by operation object: `call('createLink', { body: { url } })`. */
export function createClient({ url, token, credentials = 'omit', workspace }: Server) {
  return async function call<I extends OperationId>(
    operation: I | { id: I },
    input: OperationInput<I> = {},
  ): Promise<OperationAnswer<I>> {
    const { body, headers, signal } = input
    const { params = {}, query = {} } = input as Record<string, Record<string, unknown>>
    const endpoint = endpoints[typeof operation === 'object' ? operation.id : operation]
    const [method, path] = endpoint.split(' ') as [string, string]
    const response = await fetch(url.replace(/\/+$/, '') + fillPath(path, params) + writeQuery(query), {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(workspace && { 'tributary-workspace': workspace }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials,
      signal,
    })
    if (!response.ok) throw new ApiError(response, (await response.json().catch(() => ({}))) as Partial<ErrorEnvelope>)
    input.onHeaders?.(response.headers)
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return (isJson ? await response.json() : response) as OperationAnswer<I>
  }
}

function fillPath(path: string, params: Record<string, unknown>): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
}

function writeQuery(query: Record<string, unknown>): string {
  const written = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) written.set(name, String(value))
  }
  return written.size === 0 ? '' : `?${written}`
}
