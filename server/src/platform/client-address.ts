import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { memo } from './memo.ts'
import { isAddress, parseRanges, type Ranges } from './ranges.ts'

type ClientAddress = { ip: string; trusted: boolean; loopback: boolean }
/** Parses an IP address into canonical form, and checks whether it is a trusted proxy. */
export type AddressReader = (address: string) => ClientAddress
export type Client = { ip: string; secure: boolean; trusted: boolean; loopback: boolean }

export type GeoHeaders = { country: string; region: string; city: string; continent: string }
export type Visitor = {
  ip: string
  userAgent: string
  referer: string
  /** Purpose header of the browser, such as `prefetch`, or empty. */
  purpose: string
  /** Location headers, only from a trusted proxy. */
  location: GeoHeaders
}

const nowhere: GeoHeaders = { country: '', region: '', city: '', continent: '' }

export function openAddressReader(ranges: string[]): AddressReader {
  const proxies = parseRanges(ranges.join('\n'))
  // Cached, because the same addresses return often and parsing one costs more than the rest of a redirect.
  const parseOther = memo((address) => parseClientAddress(address, proxies), { maxBytes: 4_000_000, most: 10_000 })
  return (address) => {
    if (!isIPv4(address)) return parseOther(address)
    return { ip: address, trusted: proxies.has(address), loopback: address.startsWith('127.') }
  }
}

function parseClientAddress(text: string, proxies: Ranges): ClientAddress {
  if (!ipaddr.isValid(text)) return { ip: '', trusted: false, loopback: false }
  const address = ipaddr.process(text)
  const ip = address.toString()
  return { ip, trusted: proxies.has(ip), loopback: address.range() === 'loopback' }
}

/** Returns the client's IP address and protocol; forwarded headers count only from a trusted proxy. */
export function readClient(request: Pick<IncomingMessage, 'headers' | 'socket'>, readAddress: AddressReader): Client {
  const { ip, trusted, loopback } = readAddress(request.socket.remoteAddress ?? '')
  const encrypted = 'encrypted' in request.socket && request.socket.encrypted === true
  if (!trusted) return { ip, secure: encrypted, trusted, loopback }
  const secure = encrypted || isHttps(String(request.headers['x-forwarded-proto'] ?? ''))
  return {
    ip: forwardedFor(String(request.headers['x-forwarded-for'] ?? ''), ip, readAddress),
    secure,
    trusted,
    loopback,
  }
}

/** Reads what identifies a visitor: the same person gets the same click id on every server. */
export function readVisitor(request: Pick<IncomingMessage, 'headers' | 'socket'>, readAddress: AddressReader): Visitor {
  const { headers } = request
  const client = readClient(request, readAddress)
  return {
    ip: client.ip,
    userAgent: (headers['user-agent'] ?? '').slice(0, 1_000),
    referer: (headers.referer ?? '').slice(0, 2_000),
    purpose: String(headers['sec-purpose'] ?? headers.purpose ?? headers['x-purpose'] ?? headers['x-moz'] ?? ''),
    location: client.trusted ? readLocation(headers) : nowhere,
  }
}

/** Returns the network that counts as one visitor: an IPv4 address, or the IPv6 /64 that one person usually has. */
export function clientNetwork(ip: string): string {
  return ipaddr.IPv6.isValid(ip) ? ipaddr.IPv6.networkAddressFromCIDR(`${ip}/64`).toString() : ip
}

/** Truncates an IP address to its network: the first 24 bits of IPv4, the first 48 of IPv6. */
export function truncateAddress(ip: string): string {
  const address = ip.replace(/%.*$/s, '')
  if (isIPv4(address)) return `${address.slice(0, address.lastIndexOf('.'))}.0`
  if (!isIPv6(address)) return ''
  const parsed = ipaddr.process(address)
  const groups = parsed.kind() === 'ipv4' ? 3 : 6
  return ipaddr.fromByteArray(parsed.toByteArray().map((byte, index) => (index < groups ? byte : 0))).toString()
}

/** Formats the network of an IP address in CIDR notation; empty when it is not an address. */
export function formatNetwork(ip: string): string {
  const network = truncateAddress(ip)
  return network && `${network}/${isIPv4(network) ? 24 : 48}`
}

/** Reads the visitor's location from headers of CDNs and proxies. */
function readLocation(headers: IncomingHttpHeaders): GeoHeaders {
  const hint = (...names: string[]) => String(names.map((name) => headers[name]).find(Boolean) ?? '')
  return {
    country: hint('cf-ipcountry', 'x-country'),
    region: hint('cf-region-code', 'x-region'),
    city: decoded(hint('cf-ipcity', 'x-city')),
    continent: hint('cf-ipcontinent', 'x-continent'),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return ''
  }
}

/** Returns the rightmost untrusted address of `X-Forwarded-For`: visitors can forge any address left of it. */
function forwardedFor(header: string, peer: string, readAddress: AddressReader): string {
  let nearest = peer
  for (const part of header.split(',').reverse()) {
    const address = withoutPort(part.trim())
    if (!isAddress(address)) return nearest
    const { ip, trusted } = readAddress(address)
    nearest = ip
    if (!trusted) return nearest
  }
  return nearest
}

/** Several proxies may each append a protocol; the request counts as HTTPS only if all of them are https. */
function isHttps(header: string): boolean {
  return header.split(',').every((part) => part.trim().toLowerCase() === 'https')
}

/** Removes the client port that some proxies append to the address. */
function withoutPort(text: string): string {
  if (isIPv4(text)) return text
  return /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
}
