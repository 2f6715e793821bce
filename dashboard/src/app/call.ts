import {
  ApiError,
  createClient,
  type OperationAnswer,
  type OperationId,
  type OperationInput,
} from '@tributary/contract/client'
import { reportConnection } from './connection.ts'

/** Calls an operation as the signed-in user, in one workspace or in none. Reading ends a lost session at the sign-in page. */
export async function call<I extends OperationId>(
  operation: I,
  input: OperationInput<I> = {},
  workspace?: string,
): Promise<OperationAnswer<I>> {
  try {
    const answer = await createClient({ url: location.origin, credentials: 'same-origin', workspace })(operation, input)
    reportConnection(true)
    return answer
  } catch (error) {
    if (!input.signal?.aborted) reportConnection(isFromServer(error))
    if (error instanceof ApiError && error.status === 401) return signIn()
    throw error
  }
}

/** Opens the sign-in page, which comes back to this one; never resolves, so that nothing flashes meanwhile. */
function signIn(): Promise<never> {
  const here = location.pathname + location.search + location.hash
  location.assign(`/sign-in?next=${encodeURIComponent(here)}`)
  return new Promise(() => {})
}

/** Whether our server answered, and not a proxy in front of it that can't reach the server. */
function isFromServer(error: unknown): boolean {
  return error instanceof ApiError && (error.code !== undefined || ![502, 503, 504].includes(error.status))
}

/** The id under which the server's log has a failed request. */
export function requestId(error: unknown): string | undefined {
  return error instanceof ApiError ? (error.headers.get('x-request-id') ?? undefined) : undefined
}
