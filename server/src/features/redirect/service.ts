import { mintClickId } from '../../platform/click-id.ts'
import type { Platform } from '../../platform/context.ts'
import { addressedKey, type RedirectLink } from '../links/service.ts'
import { openLinkCache } from './cache.ts'
import { openCapture } from './capture.ts'
import { type Decision, decide } from './decide.ts'
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
}
export type Redirect = AsyncDisposable & { visit(visit: Visit): Promise<Decision> }

const longestDomain = 253

/** Decides about visits; a click is stored before its decision is given. */
export async function openRedirect(platform: Platform): Promise<Redirect> {
  const { config } = platform
  await using parts = new AsyncDisposableStack()
  const spool = parts.use(await openSpool(platform))
  const capture = parts.use(openCapture(platform, spool))
  const cache = parts.use(openLinkCache(platform))
  const opened = parts.move()
  return {
    async visit(visit) {
      const key = visit.path === null || visit.domain.length > longestDomain ? null : addressedKey(visit.path)
      const link = key === null ? null : await cache.find(visit.domain, key)
      const at = platform.now().getTime()
      const id = link ? mintClickId(config.CLICK_ID_KEYS, { ...visit, linkNumber: BigInt(link.number), at }) : ''
      const decision = decide(link, visit, at, { id, parameter: config.CLICK_ID_PARAMETER })
      if (link && decision.record) await capture.add(clickOf(id, link, decision, visit, at))
      platform.metrics.redirects.inc({ status: decision.status })
      return decision
    },
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
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
