import { isbot } from 'isbot'
import type { RedirectDomain } from '../domains/service.ts'
import { addressedKey, type RedirectLink } from '../links/service.ts'
import { decoded, parseTarget, withClickId, withLoggedQuery, withVisitorQuery } from './destination.ts'
import { detectDevice } from './device.ts'
import { type File, fileAt } from './files.ts'

export type Visit = {
  method: string
  /** The decoded URL path without the first slash; null when it could not be decoded. */
  path: string | null
  query: string
  /** The request's `Sec-Purpose` header, such as `prefetch`; else empty. */
  purpose: string
  userAgent: string
  location: { country: string }
}
export type Attempt = { outcome: 'none' | 'right' | 'wrong' | 'foreign' } | { outcome: 'limited'; retryAfter: number }
export type DecideInput = {
  domain: RedirectDomain | null
  /** The link's normalized key from the path; null when no link can have this path. */
  key: string | null
  link: RedirectLink | null
  visit: Visit
  now: number
  /** The click id to add to the destination; when the id is empty, the visitor is redirected without it. */
  click: { id: string; parameter: string }
  /** A hash of the visitor and link, from 0 to below 1, which selects the A/B test variant. */
  share: number
  /** Whether the visitor sent the link's password, and whether it was right. */
  attempt: Attempt
}

export type Page =
  | { kind: 'not-found' | 'banned' | 'disabled' | 'expired' | 'unavailable' }
  | { kind: 'password'; attempt: Attempt }
  | { kind: 'app'; url: string }
  | { kind: 'cloak'; url: string; title: string | null; description: string | null }
  | ({ kind: 'preview'; url: string } & Pick<RedirectLink, 'title' | 'description' | 'image' | 'video'>)
export type Decision = {
  status: 200 | 302 | 303 | 403 | 404 | 405 | 410 | 429
  location?: string
  page?: Page
  file?: File
  allow?: string
  /** The `Retry-After` header, in seconds. */
  retryAfter?: number
  /** The destination URL without the click id. */
  destination?: string
  /** The destination URL in the event log, with a limited part of the visitor's query parameters. */
  loggedUrl?: string
  /** Whether search engines may index this URL. */
  index: boolean
  /** Whether the visit is recorded as a click of the link; `bot` is the reason when the request is not a person's. */
  record: boolean
  bot: string
  trigger: 'link' | 'qr'
}

/** Decides, as a pure function, how to answer a visit of a short link. */
export function decide(input: DecideInput): Decision {
  const { domain, link, visit, now, attempt } = input
  const answer: Decision = { status: 404, index: false, record: false, bot: '', trigger: detectTrigger(visit.query) }
  const isPost = visit.method === 'POST'
  if (visit.method !== 'GET' && visit.method !== 'HEAD' && !(isPost && link?.sealedPassword)) {
    return { ...answer, status: 405, allow: link?.sealedPassword ? 'GET, HEAD, POST' : 'GET, HEAD' }
  }
  const file = fileAt(visit.path, domain)
  if (file) return { ...answer, status: file.text === null ? 404 : 200, file }

  const found = isPost ? 303 : 302
  const refuse = (kind: 'not-found' | 'banned' | 'disabled' | 'expired', ...instead: (string | null)[]): Decision => {
    const location = instead.map((url) => url && elsewhere(url, input)).find(Boolean)
    if (location) return { ...answer, status: found, location }
    return { ...answer, status: kind === 'not-found' ? 404 : 410, page: { kind } }
  }
  if (!domain || !link) return refuse('not-found', domain?.notFoundUrl ?? null)
  if (link.bannedAt !== null) return refuse('banned')
  if (link.disabledAt !== null) return refuse('disabled', domain.notFoundUrl)
  if (link.expiresAt !== null && link.expiresAt <= now) return refuse('expired', link.expiredUrl, domain.expiredUrl)

  if (link.sealedPassword && attempt.outcome !== 'right') {
    const page: Page = { kind: 'password', attempt }
    if (attempt.outcome === 'limited') return { ...answer, status: 429, page, retryAfter: attempt.retryAfter }
    return { ...answer, status: attempt.outcome === 'none' ? 200 : 403, page }
  }

  const device = link.ios || link.android ? detectDevice(visit.userAgent) : ''
  const onDevice = (device === 'ios' && link.ios) || (device === 'android' && link.android) || undefined
  const target = parseTarget(onDevice ?? inCountry(link, visit) ?? variant(input) ?? link.url)
  if (!target) return refuse('not-found', domain.notFoundUrl)
  answer.index = link.doIndex
  answer.record = true
  answer.bot = visit.method === 'HEAD' ? 'head' : visit.purpose ? 'prefetch' : ''
  answer.destination = withVisitorQuery(target, visit.query, input.click.parameter)
  const { destination: url } = answer
  answer.loggedUrl = withLoggedQuery(target, visit.query, input.click.parameter, url)
  if (link.proxy && isbot(visit.userAgent)) {
    const { title, description, image, video } = link
    const page: Page = { kind: 'preview', url, title, description, image, video }
    return { ...answer, status: 200, bot: answer.bot || 'user-agent', page }
  }
  const { parameter, id } = input.click
  const location = link.trackConversion && id ? withClickId(url, parameter, id) : url
  if (target.isApp) return { ...answer, status: 200, page: { kind: 'app', url: location } }
  // Device destinations are app stores, which refuse to be shown in a frame.
  if (link.rewrite && !onDevice) {
    const { title, description } = link
    return { ...answer, status: 200, page: { kind: 'cloak', url: location, title, description } }
  }
  answer.status = found
  answer.location = location
  return answer
}

function detectTrigger(query: string): 'link' | 'qr' {
  return query !== '' && /(?:^|&)qr=1(?:&|$)/.test(query) ? 'qr' : 'link'
}

/** A fallback URL to redirect to; null when it is not a web URL or leads back to this very link. */
function elsewhere(stored: string, { domain, key }: DecideInput): string | null {
  const target = parseTarget(stored)
  if (!target || target.isApp) return null
  const { hostname, pathname } = new URL(target.url)
  return hostname === domain?.slug && addressedKey(decoded(pathname) ?? '') === key ? null : target.url
}

function inCountry({ geo }: RedirectLink, { location }: Visit): string | undefined {
  if (!geo || !location.country) return undefined
  const country = location.country.trim().toUpperCase()
  return Object.hasOwn(geo, country) ? geo[country] : undefined
}

/** The URL of the visitor's A/B test variant, always the same for a visitor; percentages are relative to their sum. */
function variant({ link, now, share }: DecideInput): string | undefined {
  if (!link?.testVariants) return undefined
  const { testVariants, testStartedAt, testCompletedAt } = link
  if (testStartedAt !== null && testStartedAt > now) return undefined
  if (testCompletedAt !== null && testCompletedAt <= now) return undefined
  const weights = testVariants.map(({ percentage }) => Math.max(0, percentage))
  let left = share * weights.reduce((sum, weight) => sum + weight, 0)
  return testVariants.find((_, index) => {
    left -= weights[index] as number
    return left < 0
  })?.url
}
