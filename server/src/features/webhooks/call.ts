import { createHmac } from 'node:crypto'
import { lookup as systemLookup } from 'node:dns/promises'
import type { Config } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { openDns } from '../../platform/dns.ts'
import { fetchOutbound, OutboundError, type OutboundReason } from '../../platform/outbound.ts'
import { retryAfterMs } from './schedule.ts'

export const timeoutMs = 15_000
const excerptCharacters = 1_000

export type Call = {
  url: string
  eventId: string
  body: string
  /** Each call is signed with every one of these secrets. */
  secrets: string[]
}
export type Outcome = 'delivered' | 'refused' | 'gone' | 'timeout' | 'unreachable'
export type Called = {
  at: Date
  endedAt: Date
  durationMs: number
  outcome: Outcome
  responseStatus: number | null
  responseExcerpt: string | null
  /** The error text shown to the workspace; it must not reveal the server's network. */
  problem: string | null
  retryAfterMs?: number
}

/** Sends an event to a webhook's URL, signed as Standard Webhooks specifies. */
export async function callReceiver(
  { config, now }: Pick<Platform, 'config' | 'now'>,
  { url, eventId, body, secrets }: Call,
): Promise<Called> {
  const at = now()
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const started = performance.now()
  const passed = () => ({ at, endedAt: now(), durationMs: Math.round(performance.now() - started) })
  try {
    const {
      status,
      headers,
      body: answer,
    } = await fetchOutbound(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Tributary-Webhooks/1.0 (+${config.API_URL})`,
        'webhook-id': eventId,
        'webhook-timestamp': timestamp,
        'webhook-signature': secrets.map((secret) => sign(secret, `${eventId}.${timestamp}.${body}`)).join(' '),
      },
      body,
      timeoutMs,
      maxBytes: excerptCharacters * 4,
      cutsBody: true,
      allow: config,
      lookup: addressesFor(config),
    })
    return {
      ...passed(),
      ...verdictOn(status),
      responseStatus: status,
      responseExcerpt: formatExcerpt(answer),
      retryAfterMs: retryAfterMs(headers['retry-after'], now()),
    }
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const outcome = error.reason === 'timeout' ? 'timeout' : 'unreachable'
    return { ...passed(), outcome, responseStatus: null, responseExcerpt: null, problem: describeProblem(error.reason) }
  }
}

/** Signs with OpenSSL, because a JavaScript library takes milliseconds for a large body. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

function verdictOn(status: number): Pick<Called, 'outcome' | 'problem'> {
  if (status >= 200 && status < 300) return { outcome: 'delivered', problem: null }
  if (status === 410) return { outcome: 'gone', problem: 'The receiver answered 410: it wants no more events.' }
  const remark = status >= 300 && status < 400 ? ' Redirects are not followed; give the webhook the final address.' : ''
  return { outcome: 'refused', problem: `The receiver answered ${status} instead of 2xx.${remark}` }
}

/** Cleans the stored part of a response: PostgreSQL rejects lone surrogates and NUL characters. */
function formatExcerpt(answer: Buffer): string {
  return answer.toString('utf8').slice(0, excerptCharacters).replaceAll('\0', '\uFFFD').toWellFormed()
}

/** Describes a failed call. All network failures share one message, to hide the structure of the server's network. */
function describeProblem(reason: OutboundReason): string {
  switch (reason) {
    case 'timeout':
      return `The receiver did not answer within ${timeoutMs / 1_000} s.`
    case 'url':
    case 'scheme':
    case 'credentials':
      return 'The address must begin with http:// or https://, and have no user name or password.'
    case 'port':
      return 'The address must use port 80 or 443.'
    default:
      return 'The host of the address is not public, or did not send a valid HTTP response.'
  }
}

/**
 * Resolves receiver hosts on our own DNS client: the system resolver has few threads, so one silent server blocks all.
 * Hosts in OUTBOUND_ALLOWED_HOSTS use the system resolver, because they may have no public DNS records.
 */
function addressesFor({ DNS_SERVERS, OUTBOUND_ALLOWED_HOSTS }: Config) {
  return async (name: string) => {
    if (OUTBOUND_ALLOWED_HOSTS.names.includes(name)) return systemLookup(name, { all: true })
    const addresses = await openDns(DNS_SERVERS).addresses(name)
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
}
