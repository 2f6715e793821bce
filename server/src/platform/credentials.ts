import type { Ctx } from './context.ts'
import { forbidden } from './errors.ts'

/** What a request says about its caller. */
export type Credentials = {
  /** The `Authorization` header. */
  authorization?: string
  /** The `Cookie` header. */
  cookie?: string
  /** Id or slug of the workspace that a signed-in user works in. */
  workspace?: string
  /** `false` for operations that a signed-in user calls without a workspace. */
  needsWorkspace?: boolean
  /** Host of the calling web page, without `www.`; empty without `Referer` and `Origin`. */
  page: string
  /** The client's IP address. */
  ip?: string
  /** Whether the client has sent too many invalid credentials; new ones are then looked up one at a time. */
  isSuspect?: boolean
}

/**
 * Throws 403 unless a write with a session cookie comes from our own pages, because browsers also send the cookie with
 * requests that other sites make. Browsers set both headers themselves; pages can't change them.
 */
export function requireSameOrigin(header: (name: string) => string | undefined, apiUrl: string): void {
  const site = header('sec-fetch-site')
  const origin = header('origin')
  const isOwnOrigin = origin !== undefined && origin === new URL(apiUrl).origin
  if (origin === undefined ? site === 'same-origin' : isOwnOrigin && (site ?? 'same-origin') === 'same-origin') return
  throw forbidden(
    `A signed-in user may change data only from pages of ${new URL(apiUrl).origin}. This request comes from: ${origin ?? 'an unknown page'}. Open that address, or use an API key.`,
  )
}

const freshMinutes = 15

/** Throws 403 unless the user proved who they are a few minutes ago; a key is not for what can't be undone. */
export function requireFreshSession({ actor, now }: Pick<Ctx, 'actor' | 'now'>): void {
  const since = actor.kind === 'user' ? actor.authenticatedAt?.getTime() : undefined
  if (since !== undefined && now().getTime() - since <= freshMinutes * 60_000) return
  throw forbidden(
    `This can't be undone, so it needs a sign-in within the last ${freshMinutes} minutes. Confirm your password at /account, or with the auth API, then send the request again.`,
  )
}
