import { z } from 'zod'
import { parseJson } from '../../platform/body.ts'
import { forbidden, unauthorized } from '../../platform/errors.ts'
import { parse } from '../../platform/validation.ts'
import { isFresh } from './account.ts'
import { addressHeader } from './identity.ts'
import { deviceCookie } from './limits.ts'
import { sendNotice } from './notice.ts'
import { recordAction, recordFailure, recordSignIn, whoIs } from './record.ts'
import { deleteSessions, selectPasskeys } from './session-store.ts'
import type { Auth, Browser } from './sign-in.ts'

/** Endpoints of the identity library that the passkey script calls; no other is reachable over HTTP. */
export const passkeyPaths = {
  'generate-register-options': 'GET',
  'verify-registration': 'POST',
  'generate-authenticate-options': 'GET',
  'verify-authentication': 'POST',
} as const
export type PasskeyPath = keyof typeof passkeyPaths

const mostPasskeys = 20
const longestName = 100
const step = z.object({ response: z.looseObject({}), name: z.string().optional() })

/** Passes a step of WebAuthn to the identity library. */
export async function callPasskeys(
  auth: Auth,
  browser: Browser,
  { path, body }: { path: PasskeyPath; body?: string },
): Promise<Response> {
  const isRegistration = path.includes('regist')
  if (isRegistration) await requireRegistration(auth, browser)
  const headers = new Headers(browser.headers)
  headers.set('origin', new URL(auth.config.API_URL).origin)
  if (body !== undefined) headers.set('content-type', 'application/json')
  const request = new Request(`${auth.config.API_URL}/auth/passkey/${path}`, {
    method: passkeyPaths[path],
    headers,
    ...(body !== undefined && { body: readStep(body) }),
  })
  const response = await auth.identity.handler(request)
  const { network, session } = browser
  if (!response.ok) {
    if (path === 'verify-authentication') recordFailure(auth, { network, method: 'passkey' }, async () => undefined)
    throw unauthorized('This passkey was not accepted. Try again, or sign in another way.')
  }
  if (path === 'verify-registration' && session) {
    const { id } = (await response.clone().json()) as { id: string }
    await recordAction(auth, 'passkey-added', whoIs({ session, network }), { passkey: id })
    sendNotice(auth, session.email, 'passkey-added')
  }
  if (path !== 'verify-authentication') return response
  const { user } = (await response.json()) as { user: { id: string; email: string } }
  await recordSignIn(auth, { userId: user.id, network, cookies: response.headers.getSetCookie(), method: 'passkey' })
  if (browser.session) await deleteSessions(auth.db, browser.session.userId, { id: browser.session.id })
  const answer = new Response('{}', { headers: response.headers })
  answer.headers.append('set-cookie', deviceCookie(auth.config, user.email, auth.now()))
  answer.headers.delete('content-length')
  return answer
}

/** Returns what the library gets of a body. Further fields would make it start a session. */
export function readStep(body: string): string {
  const { response, name } = parse(step, parseJson(Buffer.from(body), { bodyValues: 1_000 }), 'body')
  const shown = name?.slice(0, longestName).toWellFormed()
  return JSON.stringify({ response, ...(shown && { name: shown }) })
}

async function requireRegistration(auth: Auth, { session }: Browser): Promise<void> {
  if (!session) throw unauthorized('Sign in first.')
  if (!isFresh(session, auth.now())) throw forbidden('Sign in again to add a passkey: open /confirm.')
  if ((await selectPasskeys(auth.db, session.userId)).length >= mostPasskeys) {
    throw forbidden(`You have ${mostPasskeys} passkeys. Remove one first.`)
  }
}

/** Headers for the identity library: only what it needs, with the client's address as we see it. */
export function libraryHeaders(given: { cookie?: string; userAgent?: string }, address: string): Headers {
  const headers = new Headers({ [addressHeader]: address, 'user-agent': (given.userAgent ?? '').slice(0, 300) })
  if (given.cookie) headers.set('cookie', given.cookie)
  return headers
}
