import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { type AddressReader, openAddressReader, readVisitor } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { readParameters } from '../../platform/query-string.ts'
import type { Decision, Page } from './decide.ts'
import { decoded } from './destination.ts'
import { redirectMetrics } from './metrics.ts'
import { renderPage } from './pages/render.ts'
import type { Redirect, Visit } from './service.ts'

// Maximum size of the password form: 190 characters, each up to nine when form-encoded.
const longestForm = 2_048
const uncached = 'private, no-store'

/** The HTTP listener that answers requests for short links. */
export function redirectListener(platform: Platform, redirect: Redirect) {
  const readAddress = openAddressReader(platform.config.TRUSTED_PROXIES)
  const metrics = redirectMetrics(platform)
  return (request: IncomingMessage, response: ServerResponse) => {
    const started = performance.now()
    const fail = (error: unknown) => {
      platform.log.error({ error }, 'redirect failed')
      metrics.redirects.count(503)
      if (response.headersSent) return void response.destroy()
      respondWithPage(request, response, 503, { kind: 'unavailable' }, { 'Retry-After': 5 })
    }
    const send = (decision: Decision) => {
      try {
        respond(request, response, decision)
        metrics.redirectSeconds.observe((performance.now() - started) / 1_000)
      } catch (error) {
        fail(error)
      }
    }
    try {
      const visit = readVisit(request, readAddress)
      const slow = visit.method === 'POST' ? visitWithForm(request, visit, send) : redirect.visit(visit, send)
      slow?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }

  async function visitWithForm(request: IncomingMessage, visit: Visit, send: (decision: Decision) => void) {
    const { password } = readParameters(await readForm(request), ['password'])
    await redirect.visit({ ...visit, form: { password: password ?? '', isForeign: isForeign(request.headers) } }, send)
  }
}

function readVisit(request: IncomingMessage, readAddress: AddressReader): Visit {
  const { headers } = request
  const address = request.url ?? '/'
  const mark = address.indexOf('?')
  return {
    ...readVisitor(request, readAddress),
    domain: parseDomain(headers.host ?? ''),
    path: decoded(mark === -1 ? address.slice(1) : address.slice(1, mark)),
    method: request.method ?? 'GET',
    query: mark === -1 ? '' : address.slice(mark + 1),
  }
}

function parseDomain(host: string): string {
  return host.replace(/\.?(?::\d+)?$/, '').toLowerCase()
}

/** Reads the posted password form; empty when it is too large or incomplete. */
function readForm(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      if (text.length <= longestForm) return
      text = ''
      resolve('')
    })
    request.on('end', () => resolve(text)).on('close', () => resolve(''))
  })
}

/** Whether a page of another site posted the form: such a page must not guess passwords through its visitors. */
function isForeign(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  const { origin, host = '' } = headers
  return origin !== undefined && URL.parse(origin)?.hostname !== parseDomain(host)
}

function respond(request: IncomingMessage, response: ServerResponse, decision: Decision): void {
  const { status, location, page, file } = decision
  if (location !== undefined) {
    const headers = ['Location', location, 'Cache-Control', uncached, 'Content-Length', '0']
    if (!decision.index) headers.push('X-Robots-Tag', 'noindex')
    response.writeHead(status, headers).end()
  } else if (page) {
    respondWithPage(request, response, status, page, {
      ...(!decision.index && { 'X-Robots-Tag': 'noindex' }),
      ...(decision.retryAfter !== undefined && { 'Retry-After': decision.retryAfter }),
    })
  } else if (file) {
    const headers = { 'Content-Type': file.type, 'Content-Length': Buffer.byteLength(file.text ?? '') }
    response.writeHead(status, { ...headers, 'Cache-Control': 'max-age=60', 'X-Content-Type-Options': 'nosniff' })
    response.end(file.text ?? '')
  } else {
    response.writeHead(status, { Allow: decision.allow, 'Content-Length': 0 }).end()
  }
}

function respondWithPage(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  page: Page,
  more: OutgoingHttpHeaders,
): void {
  const { text, language, policy } = renderPage(page, request.headers['accept-language'] ?? '')
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Content-Language': language,
    'Content-Security-Policy': policy,
    'Cache-Control': uncached,
    // With `no-referrer`, browsers would not send the form's `Origin` header either.
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Language',
    ...(!request.complete && { Connection: 'close' }),
    ...more,
  })
  response.end(text)
}
