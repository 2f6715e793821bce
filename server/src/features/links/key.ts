import { randomText } from '../../platform/ids.ts'

/** The key of the link at a bare domain, such as go.example.com. */
export const rootKey = '_root'

const longestKey = 190

/** Reserved link keys: paths that browsers, phones and search engines request from every host. */
const reservedKeys = new Set([
  'favicon.ico',
  'robots.txt',
  'sitemap.xml',
  'manifest.json',
  'manifest.webmanifest',
  'apple-app-site-association',
  'apple-touch-icon.png',
  'apple-touch-icon-precomposed.png',
])

/** Further reserved paths that speak for a whole host, for example to prove its ownership to a third party. */
const hostKeys = new Set([
  'ads.txt',
  'app-ads.txt',
  'sellers.json',
  'security.txt',
  'humans.txt',
  'llms.txt',
  'dnt-policy.txt',
  'crossdomain.xml',
  'clientaccesspolicy.xml',
  'browserconfig.xml',
  'bingsiteauth.xml',
  'sw.js',
  'service-worker.js',
])
const ownershipProof = /^(?:google|yandex_|pinterest-|naver|baidu_verify_|mailru-verification)[\w-]*\.html?$/

export function randomKey(prefix = '', length = 7): string {
  const start = normalKey(prefix)
  return start === '' ? randomText(length) : `${start}${prefix.endsWith('/') ? '/' : ''}${randomText(length)}`
}

/** Normalizes a link key for storage and display: NFC, without leading and trailing slashes. */
export function normalKey(key: string): string {
  return key.normalize('NFC').replaceAll(/^\/+|\/+$/g, '')
}

/** Normalizes a link key for lookup, which is case-insensitive. */
export function lookupKey(key: string): string {
  return normalKey(key).toLowerCase().normalize('NFC')
}

/** The reason why a link key is not allowed, or undefined. */
export function keyProblem(key: string): string | undefined {
  if (key === rootKey) return undefined
  if (key === '') return 'must not be empty'
  if (key.length > longestKey) return `must be at most ${longestKey} characters long`
  if (!key.isWellFormed()) return 'must not contain half of a surrogate pair'
  if (key.startsWith('_')) return `must not start with \`_\`, except \`${rootKey}\` for the bare domain`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: rejects control characters
  if (/[\s?#\\%\u0000-\u001f\u007f-\u009f]/.test(key)) {
    return 'must not contain spaces, control characters or any of ? # \\ %'
  }
  if (key.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not contain empty, `.` or `..` path segments'
  }
  if (reservedKeys.has(lookupKey(key)) || /^\.well-known(?:\/|$)/.test(lookupKey(key))) return 'is reserved'
  return undefined
}

/** The reason why a link key is not allowed on the shared domain, or undefined. */
export function sharedKeyProblem(key: string): string | undefined {
  if (key === rootKey) return `must not be \`${rootKey}\``
  const name = lookupKey(key)
  return hostKeys.has(name) || ownershipProof.test(name) ? 'is reserved' : undefined
}
