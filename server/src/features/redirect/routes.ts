import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Platform } from '../../platform/context.ts'
import { clientOf, knownPeers, type Peers } from '../../platform/peers.ts'
import type { Decision } from './decide.ts'
import { renderPage } from './pages.ts'
import type { Redirect, Visit } from './service.ts'

const html = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' }

/** Answers every request for a short link. */
export function redirectListener(platform: Platform, redirect: Redirect) {
  const peers = knownPeers(platform.config.TRUSTED_PROXIES)
  return (request: IncomingMessage, response: ServerResponse) => {
    redirect.visit(visitOf(request, peers)).then(
      (decision) => respond(response, decision),
      (error) => {
        platform.log.error({ error }, 'A redirect failed')
        platform.metrics.redirects.inc({ status: 503 })
        response.writeHead(503, { ...html, 'Retry-After': '5' }).end(renderPage('unavailable'))
      },
    )
  }
}

function visitOf(request: IncomingMessage, peers: Peers): Visit {
  const { headers } = request
  const [path = '', query = ''] = (request.url ?? '/').slice(1).split('?', 2)
  const client = clientOf(request, peers)
  return {
    domain: (headers.host ?? '').replace(/:\d+$/, '').toLowerCase(),
    path: decoded(path),
    method: request.method ?? 'GET',
    query,
    purpose: String(headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'] ?? ''),
    ip: client.ip,
    userAgent: (headers['user-agent'] ?? '').slice(0, 1_000),
    referer: (headers.referer ?? '').slice(0, 2_000),
    place: client.trusted ? placeOf(headers) : { country: '', region: '', city: '', continent: '' },
  }
}

/** What content delivery networks and proxies say about the visitor's place. */
function placeOf(headers: IncomingHttpHeaders): Visit['place'] {
  const hint = (...names: string[]) => String(names.map((name) => headers[name]).find(Boolean) ?? '')
  return {
    country: hint('cf-ipcountry', 'x-country'),
    region: hint('cf-region-code', 'x-region'),
    city: decoded(hint('cf-ipcity', 'x-city')) ?? '',
    continent: hint('cf-ipcontinent', 'x-continent'),
  }
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
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
  } else if (decision.page) {
    response.writeHead(decision.status, html).end(renderPage(decision.page))
  } else {
    response.writeHead(decision.status, { Allow: 'GET, HEAD' }).end()
  }
}
