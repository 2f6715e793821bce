import type { IncomingMessage, ServerResponse } from 'node:http'
import { mintClickId } from '../../platform/click-id.ts'
import type { Platform } from '../../platform/context.ts'
import { type Client, clientOf, knownPeers } from '../../platform/peers.ts'
import { addressedKey, type RedirectLink } from '../links/service.ts'
import type { LinkCache } from './cache.ts'
import type { Capture } from './capture.ts'
import { type Decision, decide } from './decide.ts'
import type { RawClick } from './messages.ts'
import { renderPage } from './pages.ts'

type Parts = { cache: LinkCache; capture: Capture }

/** Answers every request for a short link. */
export function redirectListener(platform: Platform, { cache, capture }: Parts) {
  const peers = knownPeers(platform.config.TRUSTED_PROXIES)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { domain, key, query } = addressOf(request)
    const link = key === null ? null : await cache.find(domain, key)
    const client = clientOf(request, peers)
    const at = platform.now().getTime()
    const clickId = link ? clickIdFor(platform, link, client, request, at) : ''
    const visit = { method: request.method ?? 'GET', query, purpose: purposeOf(request) }
    const decision = decide(link, visit, at, { id: clickId, parameter: platform.config.CLICK_ID_PARAMETER })
    if (link && decision.record) await capture.add(clickOf(clickId, link, decision, client, request, at))
    respond(response, decision)
    platform.metrics.redirects.inc({ status: decision.status })
  }

  return (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((error) => {
      platform.log.error({ error }, 'A redirect failed')
      platform.metrics.redirects.inc({ status: 503 })
      if (!response.headersSent) {
        response.writeHead(503, {
          'Content-Type': 'text/html; charset=utf-8',
          'Retry-After': '5',
          'Cache-Control': 'no-store',
        })
      }
      response.end(renderPage('unavailable'))
    })
  }
}

function addressOf(request: IncomingMessage): { domain: string; key: string | null; query: string } {
  const [path = '', query = ''] = (request.url ?? '/').slice(1).split('?', 2)
  const domain = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
  try {
    return { domain, key: addressedKey(decodeURIComponent(path)), query }
  } catch {
    return { domain, key: null, query }
  }
}

function purposeOf({ headers }: IncomingMessage): string {
  return String(headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'] ?? '')
}

function clickIdFor(
  platform: Platform,
  link: RedirectLink,
  client: Client,
  request: IncomingMessage,
  at: number,
): string {
  const visitor = { ip: client.ip, userAgent: request.headers['user-agent'] ?? '' }
  return mintClickId(platform.config.CLICK_ID_KEYS, { linkNumber: BigInt(link.number), ...visitor, at })
}

function clickOf(
  id: string,
  link: RedirectLink,
  decision: Decision,
  client: Client,
  { headers }: IncomingMessage,
  at: number,
): RawClick {
  const hint = (name: string) => (client.trusted ? String(headers[name] ?? '') : '')
  return {
    id,
    at,
    workspaceId: link.workspaceId,
    linkNumber: link.number,
    url: decision.location ?? link.url,
    trigger: decision.trigger,
    ip: client.ip,
    userAgent: (headers['user-agent'] ?? '').slice(0, 1_000),
    referer: (headers.referer ?? '').slice(0, 2_000),
    bot: decision.bot,
    country: hint('cf-ipcountry') || hint('x-country'),
    region: hint('cf-region-code') || hint('x-region'),
    city: hint('cf-ipcity') || hint('x-city'),
    continent: hint('cf-ipcontinent') || hint('x-continent'),
  }
}

function respond(response: ServerResponse, decision: Decision): void {
  if (decision.location !== undefined) {
    response.writeHead(decision.status, {
      Location: decision.location,
      'Cache-Control': 'no-store',
      'Content-Length': 0,
    })
    response.end()
    return
  }
  if (!decision.page) {
    response.writeHead(decision.status, { Allow: 'GET, HEAD' }).end()
    return
  }
  response.writeHead(decision.status, { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' })
  response.end(renderPage(decision.page))
}
