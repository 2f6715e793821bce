import type { Platform } from '../../platform/context.ts'
import { unauthorized } from '../../platform/errors.ts'
import type { RateLimiter } from '../../platform/rate-limit.ts'
import { cookiePrefix, readCookie, sessionCookieName, verifyValue } from './cookies.ts'
import type { Identity } from './identity.ts'
import { explainLibrary } from './library-errors.ts'
import { deviceCookie, limitSignIn } from './limits.ts'
import { useLink } from './one-time.ts'
import { isPassword } from './passwords.ts'
import { recordFailure, recordSignIn, type SignInMethod } from './record.ts'
import { forgetSession, type Session } from './service.ts'
import { deleteSessions, touchAuthenticated } from './session-store.ts'
import { markEmailVerified, selectCredential, selectUser } from './store.ts'
import { useTotpCode } from './totp-codes.ts'

/** Hooks of other features for users who join or leave; roles/people.ts implements them. */
export type PeopleHooks = {
  /** Throws if the user must not be deleted, for instance as the last owner of a workspace. */
  beforeDelete(platform: Platform, userId: string): Promise<void>
  /** Whether a pending invite names this e-mail address. */
  isInvited(platform: Platform, email: string): Promise<boolean>
  /** Creates a workspace with this owner, in the transaction of the platform's `db`. */
  createFirstWorkspace(platform: Platform, userId: string, name: string): Promise<void>
  /** Returns what an invite link offers; throws 404, 409 or 410 for one that can't be accepted. */
  readInvite(platform: Platform, token: string): Promise<InviteOffer>
  /** Counts the personal API keys of a user that work. */
  countKeys(platform: Platform, userId: string): Promise<number>
  /** Makes the user a member, in the transaction of the platform's `db`; throws 403 for an invite to another address. */
  acceptInvite(platform: Platform, userId: string, token: string): Promise<{ slug: string }>
}
export type InviteOffer = { workspaceName: string; email: string; role: string }

export type Auth = Platform & { identity: Identity; limiter: RateLimiter; hooks: PeopleHooks }
/** The browser: its headers for the identity library, its network, and the session it has. */
export type Browser = { headers: Headers; network: string; session?: Session | undefined }
export type SignedIn = { cookies: string[]; needsSecondFactor: boolean }

/** Checks a password. An unknown e-mail address, a wrong password and a disabled user take the same work and give one answer. */
export async function signInWithPassword(
  auth: Auth,
  browser: Browser,
  input: { email: string; password: string },
): Promise<SignedIn> {
  const email = input.email.trim().toLowerCase().slice(0, 254)
  const cookie = browser.headers.get('cookie') ?? undefined
  const isKnown = await limitSignIn(auth, { network: browser.network, email, cookie })
  const user = await selectCredential(auth.db, email)
  const isRight = await isPassword(input.password.slice(0, 200), user?.password, isKnown ? 'known' : 'unknown')
  if (!user || !isRight || user.disabled_at) {
    recordFailure(auth, { network: browser.network, method: 'password' }, async () => user?.id)
    throw unauthorized('The e-mail address or the password is wrong.')
  }
  return prove(auth, browser, user, 'password')
}

export async function signInWithLink(auth: Auth, browser: Browser, token: string): Promise<SignedIn> {
  const { userId } = await useLink(auth, 'sign-in', token)
  const user = await selectUser(auth.db, userId)
  if (!user || user.disabled_at) {
    recordFailure(auth, { network: browser.network, method: 'link' }, async () => user?.id)
    throw unauthorized('This account is disabled. Ask the operator.')
  }
  await markEmailVerified(auth.db, userId)
  return prove(auth, browser, user, 'link')
}

/** Starts a new session for a user who has proven who they are, or asks for the second factor first. */
export async function prove(
  auth: Auth,
  browser: Browser,
  user: { id: string; email: string },
  method: SignInMethod,
): Promise<SignedIn> {
  const { headers, response } = await auth.identity.api.signInProven({
    body: { userId: user.id },
    headers: browser.headers,
    returnHeaders: true,
  })
  const cookies = headers.getSetCookie()
  if (response.twoFactorRedirect) return { cookies, needsSecondFactor: true }
  await recordSignIn(auth, { userId: user.id, network: browser.network, cookies, method })
  await replaceSession(auth, browser)
  return { cookies: [...cookies, deviceCookie(auth.config, user.email, auth.now())], needsSecondFactor: false }
}

/** Checks the code of an authenticator app or a recovery code, and starts the session. */
export async function verifySecondFactor(auth: Auth, browser: Browser, code: string): Promise<SignedIn> {
  const { api } = auth.identity
  const request = {
    body: { code: code.replaceAll(/\s/g, '') },
    headers: withoutSession(auth, browser),
    returnHeaders: true as const,
  }
  const isTotp = /^\d{6}$/.test(request.body.code)
  const userId = await pendingUser(auth, browser)
  const verifyTotp = () => api.verifyTOTP(request)
  const verifying = !isTotp
    ? api.verifyBackupCode(request)
    : userId
      ? useTotpCode(auth, { userId, code: request.body.code }, verifyTotp)
      : verifyTotp()
  const { headers, response } = await verifying.catch((error) => {
    recordFailure(auth, { network: browser.network, method: 'second factor' }, async () => userId)
    throw explainLibrary(error)
  })
  const { user } = response as { user: { id: string; email: string } }
  const cookies = headers.getSetCookie()
  await recordSignIn(auth, { userId: user.id, network: browser.network, cookies, method: 'second factor' })
  await replaceSession(auth, browser)
  return { cookies: [...cookies, deviceCookie(auth.config, user.email, auth.now())], needsSecondFactor: false }
}

/** Confirms the password of a signed-in user; what can't be undone needs a recent confirmation. */
export async function reauthenticate(
  auth: Auth,
  browser: Browser & { session: Session },
  password: string,
): Promise<void> {
  const { email, id, userId } = browser.session
  const cookie = browser.headers.get('cookie') ?? undefined
  const isKnown = await limitSignIn(auth, { network: browser.network, email, cookie })
  const user = await selectCredential(auth.db, email)
  if (!(await isPassword(password.slice(0, 200), user?.password, isKnown ? 'known' : 'unknown'))) {
    recordFailure(auth, { network: browser.network, method: 'confirmation' }, async () => userId)
    throw unauthorized('The password is wrong.')
  }
  await touchAuthenticated(auth.db, id)
  forgetSession(auth, cookie)
}

/** Ends the session that the browser had before, because no cookie refers to it any more. */
async function replaceSession(auth: Auth, { session, headers }: Browser): Promise<void> {
  if (!session) return
  await deleteSessions(auth.db, session.userId, { id: session.id })
  forgetSession(auth, headers.get('cookie') ?? undefined)
}

/** The user whose second factor the library waits for in this browser. */
async function pendingUser({ config, identity }: Auth, { headers }: Browser): Promise<string | undefined> {
  const cookie = readCookie(headers.get('cookie') ?? undefined, `${cookiePrefix(config)}.two_factor`)
  const identifier = verifyValue(config, cookie)
  if (!identifier) return undefined
  const { internalAdapter } = await identity.$context
  return (await internalAdapter.findVerificationValue(identifier))?.value
}

/** The library would check the code against the user of a running session instead of the one who signs in. */
function withoutSession({ config }: Auth, { headers }: Browser): Headers {
  const name = sessionCookieName(config)
  const cookies = (headers.get('cookie') ?? '').split(';').filter((part) => part.split('=')[0]?.trim() !== name)
  const changed = new Headers(headers)
  changed.set('cookie', cookies.join(';'))
  return changed
}
