import type { z } from '@hono/zod-openapi'
import type { ErrorCode, ErrorEnvelope, Operation } from './operation.ts'

/** What the API said when it refused. */
export class ApiError extends Error {
  readonly status: number
  readonly code: ErrorCode | undefined
  readonly headers: Headers

  constructor(response: Response, envelope: Partial<ErrorEnvelope>) {
    super(envelope.error?.message ?? `The server answered ${response.status}.`)
    this.name = 'ApiError'
    this.status = response.status
    this.code = envelope.error?.code
    this.headers = response.headers
  }
}

type Input<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> = {
  params?: z.input<P>
  query?: z.input<Q>
  body?: z.input<B>
}

/** Calls the operations of the contract: `call(createLink, { body: { url } })`. */
export function createClient(server: { url: string; token: string }) {
  return async function call<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, R extends z.ZodType>(
    operation: Operation<P, Q, B, R>,
    input: Input<P, Q, B> = {},
  ): Promise<z.output<R>> {
    const response = await fetch(addressOf(server.url, operation.path, input.params ?? {}, input.query ?? {}), {
      method: operation.method.toUpperCase(),
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: input.body === undefined ? undefined : JSON.stringify(input.body),
    })
    const answer = await response.json().catch(() => ({}))
    if (!response.ok) throw new ApiError(response, answer as Partial<ErrorEnvelope>)
    return operation.response.parse(answer)
  }
}

function addressOf(base: string, path: string, params: Record<string, unknown>, query: Record<string, unknown>): URL {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const url = new URL(base.replace(/\/+$/, '') + filled)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value))
  }
  return url
}
