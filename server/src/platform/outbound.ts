import { lookup as systemLookup } from 'node:dns/promises'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import type { Config } from './config.ts'
import { refuseInTransaction } from './postgres.ts'
import { isInRanges } from './ranges.ts'

const messages = {
  url: 'This is not an absolute URL',
  scheme: 'Only http and https addresses can be called',
  credentials: 'A user name or password in the address is not allowed',
  port: 'This port is not allowed; OUTBOUND_ALLOWED_PORTS can allow it',
  unresolvable: 'The host name has no address',
  private: 'The host has an address that is not public; OUTBOUND_ALLOWED_HOSTS can allow it',
  unreachable: 'The host did not send a valid response',
  timeout: 'The request timed out',
  size: 'The response is too large',
} as const
export type OutboundReason = keyof typeof messages

/** A rejected or failed outbound call. Its message is only for the log, because it describes the server's network. */
export class OutboundError extends Error {
  readonly reason: OutboundReason

  constructor(reason: OutboundReason, address: string, cause?: unknown) {
    super(`${messages[reason]}: ${address}`, { cause })
    this.name = 'OutboundError'
    this.reason = reason
  }
}

// Callers that use only the status code wait at most this long for the rest of the response.
const cutAfterMs = 1_000
// Maximum bytes besides the body. Checked periodically, because the HTTP client does not limit interim responses, the
// status text or chunk extensions.
const besidesBytes = 65_536
const watchIntervalMs = 100

type Address = { address: string; family: number }
type Allowed = Pick<Config, 'OUTBOUND_ALLOWED_PORTS' | 'OUTBOUND_ALLOWED_HOSTS'>

export type OutboundOptions = {
  /** Timeout of the whole call, from the DNS lookup to the last byte of the response. */
  timeoutMs: number
  maxBytes: number
  /** Accepts a partial body (too large, slow or cut off), for callers that use only the status code. */
  cutsBody?: boolean
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  allow: Allowed
  /** DNS lookup function; the system's resolver by default. */
  lookup?: (hostname: string) => Promise<Address[]>
}
export type OutboundAnswer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }

/**
 * Calls a URL that a user supplied; the only way to do so. It connects only to checked IP addresses, so DNS rebinding
 * has no effect; it follows no redirects and uses no proxies of the environment.
 */
export async function fetchOutbound(text: string, options: OutboundOptions): Promise<OutboundAnswer> {
  refuseInTransaction('An outbound call')
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const url = checkedUrl(text, options.allow)
  const addresses = await beforeDeadline(deadline, url, checkedAddresses(url, options))
  const tooLarge = new OutboundError('size', url.href)
  const connect = buildConnector({
    timeout: options.timeoutMs,
    lookup: (_hostname, { all }, callback) => {
      if (all) return callback(null, addresses)
      callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
    },
  })
  let socket: Socket | null = null
  const agent = new Agent({
    connect(target, callback) {
      connect(target, (...made) => {
        socket = made[1]
        callback(...made)
      })
    },
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  })
  const watching = setInterval(() => {
    if (socket && socket.bytesRead > 2 * options.maxBytes + besidesBytes) socket.destroy(tooLarge)
  }, watchIntervalMs)
  try {
    const answer = await request(url, {
      dispatcher: agent,
      signal: deadline,
      method: options.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', ...options.headers },
      body: options.body,
    })
    const announced = options.method === 'HEAD' ? 0 : Number(answer.headers['content-length'])
    if (announced > options.maxBytes && !options.cutsBody) throw tooLarge
    const body = await readBeginning(answer.body, options)
    if (body.length > options.maxBytes && !options.cutsBody) throw tooLarge
    return { status: answer.statusCode, headers: answer.headers, body: body.subarray(0, options.maxBytes) }
  } catch (error) {
    if (error instanceof OutboundError) throw error
    throw new OutboundError(deadline.aborted ? 'timeout' : 'unreachable', url.href, error)
  } finally {
    clearInterval(watching)
    agent.destroy().catch(() => {})
  }
}

export type Certificate = {
  issuer: string
  validTo: Date
  /** Why clients refuse the certificate; undefined if they accept it. */
  problem?: string
}

/** Reads the TLS certificate of a host, also one that clients refuse. Connects only to checked IP addresses. */
export async function readCertificate(
  text: string,
  options: Pick<OutboundOptions, 'timeoutMs' | 'allow' | 'lookup'>,
): Promise<Certificate> {
  refuseInTransaction('An outbound call')
  const deadline = AbortSignal.timeout(options.timeoutMs)
  const url = checkedUrl(text, options.allow)
  const [address] = await beforeDeadline(deadline, url, checkedAddresses(url, { ...options, maxBytes: 0 }))
  const socket = connectTls({
    ...{ host: address?.address ?? '', port: Number(url.port || 443), servername: url.hostname },
    rejectUnauthorized: false,
  })
  try {
    await once(socket, 'secureConnect', { signal: deadline })
    const { issuer, valid_to: validTo } = socket.getPeerCertificate()
    const problem = socket.authorized ? undefined : describeRefusal(socket.authorizationError)
    return { issuer: String(issuer?.O ?? issuer?.CN ?? ''), validTo: new Date(validTo), problem }
  } catch (error) {
    throw new OutboundError(deadline.aborted ? 'timeout' : 'unreachable', url.href, error)
  } finally {
    socket.destroy()
  }
}

function describeRefusal(error: unknown): string {
  const code = error instanceof Error ? ((error as NodeJS.ErrnoException).code ?? error.message) : String(error)
  return code.toLowerCase().replaceAll('_', ' ')
}

/** Reads the response body until it exceeds `maxBytes`. */
async function readBeginning(
  body: Dispatcher.ResponseData['body'],
  { maxBytes, cutsBody }: Pick<OutboundOptions, 'maxBytes' | 'cutsBody'>,
): Promise<Buffer> {
  const patience = cutsBody ? setTimeout(() => body.destroy(), cutAfterMs) : undefined
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of body) {
      length += (chunk as Buffer).length
      chunks.push(chunk as Buffer)
      if (length > maxBytes) break
    }
  } catch (error) {
    if (!cutsBody) throw error
  } finally {
    clearTimeout(patience)
  }
  return Buffer.concat(chunks)
}

/** Returns why a URL can't be called, as far as that is known without a DNS lookup. */
export function checkUrl(text: string, allow: Allowed): OutboundReason | undefined {
  try {
    const host = checkedUrl(text, allow).hostname.replace(/^\[|\]$/g, '')
    return ipaddr.isValid(host) && !isAllowedAddress(host, allow) ? 'private' : undefined
  } catch (error) {
    if (error instanceof OutboundError) return error.reason
    throw error
  }
}

const globalUnicast = ipaddr.parseCIDR('2000::/3')
const translated = ipaddr.parseCIDR('64:ff9b::/96')
// Azure's internal services, on a public address.
const cloudAddresses = ['168.63.129.16']
// The third 32-bit word of ISATAP addresses, which embed an IPv4 address.
const isatap = [0x0000_5efe, 0x0200_5efe]
const unusable = ['2001::/23', '2002::/16', '3fff::/20'].map((range) => ipaddr.parseCIDR(range))

/** Whether an IP address is unicast and public, or embeds such an IPv4 address. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  if (address.kind() === 'ipv4') return address.range() === 'unicast' && !cloudAddresses.includes(address.toString())
  if (isatap.includes(Buffer.from(address.toByteArray()).readUInt32BE(8))) return false
  if (address.match(translated)) return isPublicAddress(address.toByteArray().slice(12).join('.'))
  return (
    address.range() === 'unicast' && address.match(globalUnicast) && !unusable.some((range) => address.match(range))
  )
}

function checkedUrl(text: string, allow: Allowed): URL {
  if (!URL.canParse(text)) throw new OutboundError('url', JSON.stringify(text.slice(0, 200)))
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new OutboundError('scheme', url.protocol)
  if (url.username || url.password) throw new OutboundError('credentials', url.host)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  const allowed = port === 80 || port === 443
  if (!allowed && !allow.OUTBOUND_ALLOWED_PORTS.some(([from, to]) => from <= port && port <= to)) {
    throw new OutboundError('port', url.host)
  }
  return url
}

async function checkedAddresses(url: URL, { allow, lookup = systemAddresses }: OutboundOptions): Promise<Address[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const name = host.replace(/\.$/, '')
  const literal = ipaddr.isValid(host)
  const found = literal
    ? [{ address: host, family: host.includes(':') ? 6 : 4 }]
    : await lookup(name).catch((cause: unknown) => {
        throw new OutboundError('unresolvable', host, cause)
      })
  if (found.length === 0) throw new OutboundError('unresolvable', host)
  if (!literal && allow.OUTBOUND_ALLOWED_HOSTS.names.includes(name)) return found
  if (found.every(({ address }) => isAllowedAddress(address, allow))) return found
  throw new OutboundError('private', host)
}

function isAllowedAddress(address: string, { OUTBOUND_ALLOWED_HOSTS }: Allowed): boolean {
  return isPublicAddress(address) || isInRanges(address, OUTBOUND_ALLOWED_HOSTS.ranges)
}

function systemAddresses(hostname: string): Promise<Address[]> {
  return systemLookup(hostname, { all: true })
}

/** Rejects at the deadline and ignores a later result, because the system's resolver can't be cancelled. */
function beforeDeadline<T>(deadline: AbortSignal, url: URL, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new OutboundError('timeout', url.href)), { once: true })
    work.then(resolve, reject)
  })
}
