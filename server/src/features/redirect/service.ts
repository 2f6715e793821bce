import { LRUCache } from 'lru-cache'
import { mintClickId, visitorShare } from '../../platform/click-id.ts'
import type { Platform } from '../../platform/context.ts'
import type { Geo } from '../../platform/geo.ts'
import { addressedKey, type RedirectLink } from '../links/service.ts'
import { openAttempts } from './attempts.ts'
import { openRedirectCache } from './cache.ts'
import { openCapture } from './capture.ts'
import { type Attempt, type Decision, decide } from './decide.ts'
import type { RawClick } from './messages.ts'
import { openSpool } from './spool.ts'

export type Visit = {
  domain: string
  /** Decoded, without the first slash; null when it could not be decoded. */
  path: string | null
  method: string
  query: string
  /** What the browser says it asks for, such as `prefetch`; else empty. */
  purpose: string
  ip: string
  userAgent: string
  referer: string
  place: Pick<RawClick, 'country' | 'region' | 'city' | 'continent'>
  /** What was sent with POST, and whether a page of another site sent it. */
  form?: { password: string; isForeign: boolean }
}
export type Redirect = AsyncDisposable & { visit(visit: Visit): Promise<Decision> }

const longestRemembered = 200
const longestDomain = 253
const noAttempt: Attempt = { outcome: 'none' }

/** Decides about visits; a click is stored before its decision is given. */
export async function openRedirect(platform: Platform): Promise<Redirect> {
  const { config } = platform
  await using parts = new AsyncDisposableStack()
  const spool = parts.use(await openSpool(platform))
  const capture = parts.use(openCapture(platform, spool))
  const cache = parts.use(openRedirectCache(platform))
  const attempts = openAttempts(platform)
  const opened = parts.move()

  // Most visits ask for few links, and bringing a path to the form that is matched costs more than looking it up.
  const keys = new LRUCache<string, { key: string | null }>({ max: 20_000 })
  function keyOf(path: string): string | null {
    if (path.length > longestRemembered) return addressedKey(path)
    const known = keys.get(path) ?? { key: addressedKey(path) }
    keys.set(path, known)
    return known.key
  }

  async function attemptOf(link: RedirectLink | null, { form, ip }: Visit): Promise<Attempt> {
    if (!form || !link?.sealedPassword) return noAttempt
    return form.isForeign ? { outcome: 'foreign' } : attempts(link, form.password, ip)
  }

  return {
    async visit(visit) {
      const isAddress = visit.domain.length <= longestDomain
      const key = visit.path === null ? null : keyOf(visit.path)
      const found = isAddress ? cache.find(visit.domain, key) : { domain: null, link: null }
      const { domain, link } = found instanceof Promise ? await found : found
      const attempt = visit.form ? await attemptOf(link, visit) : noAttempt
      const now = platform.now().getTime()
      const { ip, userAgent } = visit
      const linkNumber = link ? BigInt(link.number) : 0n
      const id = link ? mintClickId(config.CLICK_ID_KEYS, { linkNumber, ip, userAgent, at: now }) : ''
      const share = link?.testVariants ? visitorShare(config.CLICK_ID_KEYS, linkNumber, ip, userAgent) : 0
      const click = { id, parameter: config.CLICK_ID_PARAMETER }
      const located = link?.geo && !visit.place.country ? withCountry(visit, platform.geo) : visit
      const decision = decide({ domain, key, link, visit: located, now, click, share, attempt })
      if (link && decision.record) {
        const stored = capture.add(clickOf(id, link, decision, visit, now))
        if (config.CLICK_DURABILITY === 'ack') await stored
      }
      platform.metrics.redirects.inc({ status: decision.status })
      return decision
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Only for the decision: the worker looks up by itself what no proxy tells. */
function withCountry(visit: Visit, geo: Geo): Visit {
  const country = geo.lookup(visit.ip)?.country
  return country ? { ...visit, place: { ...visit.place, country } } : visit
}

function clickOf(id: string, link: RedirectLink, decision: Decision, visit: Visit, at: number): RawClick {
  return {
    id,
    at,
    workspaceId: link.workspaceId,
    linkNumber: link.number,
    url: decision.destination ?? link.url,
    trigger: decision.trigger,
    ip: visit.ip,
    userAgent: visit.userAgent,
    referer: visit.referer,
    bot: decision.bot,
    ...visit.place,
  }
}
