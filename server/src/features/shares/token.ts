import { hash } from 'node:crypto'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'

/** Statistics with a password. */
export type Locked = { id: string; sealedPassword: Buffer }

export const cookieName = 'tributary_share'
export const unlockedMs = 3_600_000

/** A token that unlocks one share with its present password until a time. */
export function issueToken(keys: SecretKeys, share: Locked, until: Date): string {
  return seal(keys, purpose(share.id), `${until.getTime()} ${passwordVersion(share)}`).toString('base64url')
}

export function isUnlockedBy(keys: SecretKeys, share: Locked, token: string, now: Date): boolean {
  try {
    const [until, version] = unseal(keys, purpose(share.id), Buffer.from(token, 'base64url')).split(' ')
    return Number(until) > now.getTime() && version === passwordVersion(share)
  } catch {
    // The token is forged, damaged, of another share, or from a key that the operator has removed.
    return false
  }
}

/** The cookie has the token, never the password, and the browser sends it only with requests about this share. */
export function writeCookie(url: URL, token: string): string {
  const path = url.pathname.replace(/\/unlock$/, '')
  const secure = url.protocol === 'https:' ? '; Secure' : ''
  return `${cookieName}=${token}; Path=${path}; Max-Age=${unlockedMs / 1_000}; HttpOnly; SameSite=Strict${secure}`
}

function purpose(id: string): string {
  return `unlocked share ${id}`
}

/** Each encryption has its own nonce, so that a new password has another version even if it is the same. */
function passwordVersion({ sealedPassword }: Locked): string {
  return hash('sha256', sealedPassword, 'base64url')
}
