import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { memo } from '../../platform/memo.ts'

/** Secrets of sign-in by key id, newest first; derived, so that no cookie is signed with an encryption key itself. */
export function authSecrets({ ENCRYPTION_KEYS: { secrets } }: Pick<Config, 'ENCRYPTION_KEYS'>): Map<number, string> {
  return new Map([...secrets].map(([id, secret]) => [id, deriveSecret(secret.toString('hex'))]))
}

const deriveSecret = memo(
  (hex: string) =>
    Buffer.from(hkdfSync('sha256', Buffer.from(hex, 'hex'), '', 'tributary sign-in', 32)).toString('base64url'),
  { maxBytes: 100_000, most: 256 },
)

/** Browsers accept a `__Host-` cookie only from this exact host over HTTPS or on localhost, so that no sibling domain can set it. */
export function isHostCookie({ API_URL }: Pick<Config, 'API_URL'>): boolean {
  const { protocol, hostname } = new URL(API_URL)
  return protocol === 'https:' || hostname === 'localhost'
}

export function cookiePrefix(config: Pick<Config, 'API_URL'>): string {
  return `${isHostCookie(config) ? '__Host-' : ''}tributary`
}

export function sessionCookieName(config: Pick<Config, 'API_URL'>): string {
  return `${cookiePrefix(config)}.session_token`
}

/** Returns the first cookie with this name, decoded; undefined without one. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of (header ?? '').split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return decode(part.slice(at + 1).trim())
  }
  return undefined
}

/** Signs a cookie value as the identity library does: the value, a dot, and its HMAC in base64. */
export function signValue(config: Pick<Config, 'ENCRYPTION_KEYS'>, value: string): string {
  const [secret = ''] = authSecrets(config).values()
  return `${value}.${createHmac('sha256', secret).update(value).digest('base64')}`
}

/** Returns the value of a signed cookie; undefined when the signature is wrong. */
export function verifyValue(config: Pick<Config, 'ENCRYPTION_KEYS'>, signed: string | undefined): string | undefined {
  const at = signed?.lastIndexOf('.') ?? -1
  if (!signed || at < 1) return undefined
  const value = signed.slice(0, at)
  const [given, expected] = [Buffer.from(signed), Buffer.from(signValue(config, value))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : undefined
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
