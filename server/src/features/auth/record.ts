import type { Platform } from '../../platform/context.ts'
import { recordAudit, recordLimited } from '../audit/service.ts'
import { runLater } from './background.ts'
import { findSession, type Session } from './service.ts'

type Handles = Pick<Platform, 'db' | 'config' | 'now' | 'log'>
type Who = { userId: string; sessionId?: string | undefined; network: string }
export type SignInMethod = 'password' | 'link' | 'passkey' | 'second factor' | 'new account' | 'confirmation'
export type AccountAction =
  | 'account-created'
  | 'account-deleted'
  | 'email-changed'
  | 'name-changed'
  | 'password-changed'
  | 'password-reset'
  | 'second-factor-on'
  | 'second-factor-off'
  | 'recovery-codes-renewed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'session-ended'

// A password guesser must not fill the log.
const mostFailuresPerHour = 20

/** Records what a person did with their account, in the caller's transaction if there is one. */
export function recordAction(
  handles: Omit<Handles, 'log'>,
  operation: AccountAction | 'sign-in',
  who: Who,
  details?: object,
): Promise<void> {
  return recordAudit(handles, describe(operation, who, details))
}

export function whoIs({ session, network }: { session: Session; network: string }): Who {
  return { userId: session.userId, sessionId: session.id, network }
}

/** Records a sign-in. Await it before the response, whose `cookies` start the session: no session without an entry. */
export async function recordSignIn(
  handles: Handles,
  { userId, network, cookies, method }: Who & { cookies: string[]; method: SignInMethod },
): Promise<void> {
  const session = await findSession(handles, cookies.map((cookie) => cookie.split(';')[0]).join('; '))
  await recordAction(handles, 'sign-in', { userId, network, sessionId: session?.id }, { method })
}

/** Records a failed sign-in after the response; one without an account is only counted. */
export function recordFailure(
  handles: Handles,
  { network, method }: { network: string; method: SignInMethod },
  findUserId: () => Promise<string | undefined>,
): void {
  runLater(handles.log, 'audit entry of a failed sign-in', async () => {
    const operation = 'sign-in-failed'
    const userId = await findUserId()
    const event = describe(operation, { userId: userId ?? '', network }, { method })
    if (userId) await recordLimited(handles, event, { name: `${operation} ${userId}`, most: mostFailuresPerHour })
    else await recordLimited(handles, event, { name: operation, most: 0 })
  })
}

function describe(operation: string, { userId, sessionId, network }: Who, details?: object) {
  return {
    operation,
    actor: { kind: 'user', id: userId } as const,
    target: { kind: 'account', ids: [userId] },
    network,
    ...(sessionId && { credential: sessionId }),
    ...(details && { details }),
  }
}
