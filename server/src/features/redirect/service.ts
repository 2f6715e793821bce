import type { Visitor } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import type { Geo } from '../../platform/geo.ts'
import { memo } from '../../platform/memo.ts'
import { clickKeys, mintClickId, visitorShare } from '../click-ids/service.ts'
import { addressedKey, type RedirectLink } from '../links/service.ts'
import { openAttempts } from './attempts.ts'
import { type Found, openRedirectCache } from './cache.ts'
import { openCapture } from './capture.ts'
import { type Attempt, type Decision, decide } from './decide.ts'
import { withVisitorQuery } from './destination.ts'
import { openAddressLimit, openRecentClicks } from './limit.ts'
import type { RawClick } from './messages.ts'
import { redirectMetrics } from './metrics.ts'
import { buildRawClick, fitAddress } from './raw-click.ts'
import { openSpool } from './spool.ts'

export type Visit = Visitor & {
  domain: string
  /** The decoded URL path without the first slash; null when it could not be decoded. */
  path: string | null
  method: string
  query: string
  /** The posted password form, and whether a page of another site sent it. */
  form?: { password: string; isForeign: boolean }
}
type Send = (decision: Decision) => void
export type Redirect = AsyncDisposable & {
  /** Answers a visit, synchronously if possible; the returned promise rejects when the link lookup fails. */
  visit(visit: Visit, send: Send): Promise<void> | undefined
  /** Finds a link that is open to everyone: not expired, disabled, banned or password-protected. */
  openLink(domain: string, path: string): Promise<{ domain: string; link: RedirectLink } | null>
  /** Records a click reported by a web page or app; returns its click id, or null when it could not be stored. */
  report(link: RedirectLink, visitor: Visitor, trigger: RawClick['trigger'], url?: string): Promise<string | null>
}

const longestDomain = 253
const noAttempt: Attempt = { outcome: 'none' }
const nothing: Found = { domain: null, link: null }

const shared = new WeakMap<Platform, { opened: Promise<Redirect>; users: number }>()

/** Opens the redirect, one per process for all roles: two instances would send the same spool twice. */
export async function openRedirect(platform: Platform): Promise<Redirect> {
  const known = shared.get(platform) ?? { opened: openOwnRedirect(platform), users: 0 }
  shared.set(platform, known)
  known.users += 1
  const redirect = await known.opened
  return {
    ...redirect,
    async [Symbol.asyncDispose]() {
      known.users -= 1
      if (known.users > 0) return
      shared.delete(platform)
      await redirect[Symbol.asyncDispose]()
    },
  }
}

/** Opens a redirect with its own spool, cache and limits. */
async function openOwnRedirect(platform: Platform): Promise<Redirect> {
  const { config } = platform
  const metrics = redirectMetrics(platform)
  const secrets = clickKeys(config)
  const waits = config.CLICK_DURABILITY === 'ack'
  await using parts = new AsyncDisposableStack()
  const spool = parts.use(await openSpool(platform, config.ROLES.includes('redirect') ? 'clicks' : 'page-clicks'))
  const capture = parts.use(openCapture(platform, spool))
  const cache = parts.use(openRedirectCache({ ...platform, db: platform.lookups }))
  const attempts = openAttempts(platform)
  const withinLimit = openAddressLimit(config.CLICKS_PER_ADDRESS_PER_SECOND)
  const recent = openRecentClicks()
  const ready: { send: Send; decision: Decision }[] = []
  const opened = parts.move()

  // Caches normalized paths: most visits request few links, and normalizing a path costs more than a cache lookup.
  const readKey = memo(addressedKey, { maxBytes: 8_000_000, most: 20_000, maxKeyLength: 200 })

  async function checkPassword(link: RedirectLink | null, { form, ip }: Visit): Promise<Attempt> {
    if (!form || !link?.sealedPassword) return noAttempt
    return form.isForeign ? { outcome: 'foreign' } : attempts(link, form.password, ip)
  }

  /** Responses of one event-loop turn are written together: a client that is woken for each takes the CPU each time. */
  function sendSoon(send: Send, decision: Decision): void {
    if (ready.push({ send, decision }) === 1) setImmediate(sendReady)
  }

  function sendReady(): void {
    for (const { send, decision } of ready.splice(0)) send(decision)
  }

  function answer(visit: Visit, key: string | null, { domain, link }: Found, attempt: Attempt, send: Send): void {
    const now = platform.now().getTime()
    const { ip, userAgent } = visit
    const linkNumber = link ? BigInt(link.number) : 0n
    const id = link ? mintClickId(secrets, { linkNumber, ip, userAgent, at: now }) : ''
    const share = link?.testVariants ? visitorShare(secrets, linkNumber, ip, userAgent) : 0
    const click = { id, parameter: config.CLICK_ID_PARAMETER }
    const located = link?.geo && !visit.location.country ? withCountry(visit, platform.geo) : visit
    const input = { domain, key, link, visit: located, now, click, share, attempt }
    const decision = decide(input)
    if (!link || !decision.record) {
      metrics.redirects.count(decision.status)
      sendSoon(send, decision)
      return
    }
    const name = repeatName(id, decision.bot)
    const isRepeat = recent.has(name, now)
    if (!isRepeat && !withinLimit(ip, now)) {
      const unattributed = decide({ ...input, click: { ...click, id: '' } })
      metrics.redirects.count(unattributed.status)
      metrics.clicksNotLogged.count('rate_limited')
      sendSoon(send, unattributed)
      return
    }
    metrics.redirects.count(decision.status)
    if (isRepeat) {
      metrics.clicksNotLogged.count('repeat')
      sendSoon(send, decision)
      return
    }
    const mustWait = waits || capture.isBehind()
    const seen = { ...decision, url: decision.loggedUrl ?? link.url }
    capture.add(buildRawClick(id, link, seen, visit, now), (isStored) => {
      if (isStored) recent.add(name, now)
      if (mustWait) send(decision)
    })
    if (!mustWait) sendSoon(send, decision)
  }

  async function answerLater(visit: Visit, key: string | null, found: Found | Promise<Found>, send: Send) {
    const known = await found
    answer(visit, key, known, await checkPassword(known.link, visit), send)
  }

  return {
    visit(visit, send) {
      const key = visit.path === null ? null : readKey(visit.path)
      const found = visit.domain.length <= longestDomain ? cache.find(visit.domain, key) : nothing
      if (visit.form || found instanceof Promise) return answerLater(visit, key, found, send)
      answer(visit, key, found, noAttempt, send)
      return undefined
    },
    async openLink(host, path) {
      const key = addressedKey(path)
      if (key === null || host.length > longestDomain) return null
      const { domain, link } = await cache.find(host, key)
      if (!domain || !link || link.bannedAt !== null || link.disabledAt !== null || link.sealedPassword) return null
      const isOver = link.expiresAt !== null && link.expiresAt <= platform.now().getTime()
      return isOver ? null : { domain: domain.slug, link }
    },
    async report(link, visitor, trigger, reported) {
      const at = platform.now().getTime()
      const { ip, userAgent } = visitor
      const id = mintClickId(secrets, { linkNumber: BigInt(link.number), ip, userAgent, at })
      const bot = visitor.purpose ? 'prefetch' : ''
      const name = repeatName(id, bot)
      if (recent.has(name, at)) {
        metrics.clicksNotLogged.count('repeat')
        return id
      }
      const page = withVisitorQuery({ isApp: false, url: reported ?? link.url }, '', config.CLICK_ID_PARAMETER)
      const seen = { trigger, bot, url: reported === undefined ? page : fitAddress(page) }
      const click = buildRawClick(id, link, seen, visitor, at)
      const isStored = await new Promise<boolean>((resolve) => capture.add(click, resolve))
      if (isStored) recent.add(name, at)
      return isStored ? id : null
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

/** Adds the visitor's country from the geo database, only to choose a destination; the worker looks it up again. */
function withCountry(visit: Visit, geo: Geo): Visit {
  const country = geo.lookup(visit.ip)?.country
  return country ? { ...visit, location: { ...visit.location, country } } : visit
}

/**
 * The key under which repeated clicks are recognized. HEAD and prefetch requests have separate keys, because the visit
 * itself may still follow.
 */
function repeatName(id: string, bot: string): string {
  return bot === '' ? id : `${bot} ${id}`
}
