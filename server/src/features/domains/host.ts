import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { z } from 'zod'
import type { Config } from '../../platform/config.ts'

const longest = 190
const hostName = z.hostname()
// Characters that a URL parser would cut off, decode or skip in a host name.
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern detects control characters
const notInNames = /[\u0000-\u0020\u007f"#%/:<>?@[\\\]^`{|}]/

/** Normalizes a host name: lower case, other scripts in Punycode. Undefined when it is invalid. */
export function parseHost(text: string): string | undefined {
  if (notInNames.test(text)) return undefined
  const host = domainToASCII(text)
  return hostName.safeParse(host).success ? host.replace(/\.$/, '') : undefined
}

/** Normalizes a host name for a lookup; an invalid name stays as it is and will not be found. */
export function soughtHost(text: string): string {
  return parseHost(text) ?? text.toLowerCase()
}

/** Why a host can't be a short-link domain, or undefined. */
export function hostProblem(
  host: string | undefined,
  config: Pick<Config, 'API_URL' | 'SHORT_DOMAIN' | 'DOMAIN_CNAME' | 'ENVIRONMENT'>,
): string | undefined {
  if (host === undefined) return 'must be a host name such as go.example.com'
  if (host.length > longest) return `must be at most ${longest} characters long`
  if (isIP(host)) return 'must be a host name, not an IP address'
  if (!host.includes('.')) return 'must be a whole host name with a dot, such as go.example.com'
  if (host.endsWith('.localhost') && config.ENVIRONMENT !== 'development') return 'must not end with .localhost'
  const ours = [config.SHORT_DOMAIN, new URL(config.API_URL).hostname, config.DOMAIN_CNAME]
  if (ours.includes(host)) return 'must not be a host name of this installation'
  return undefined
}
