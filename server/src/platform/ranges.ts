import { Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

export type Ranges = { readonly count: number; has(ip: string): boolean }

/** Reads a file with one address or CIDR range per line; # starts a comment. */
export function readRanges(file: string): Ranges {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`the file can't be read (${(error as Error).message})`)
  }
  return parseRanges(text)
}

export function parseRanges(text: string): Ranges {
  const ranges = text.split('\n').flatMap((line, index) => {
    const range = line.replace(/#.*/s, '').trim()
    return range === '' ? [] : [parseBounds(range, index + 1)]
  })
  const ipv4 = joined(ranges.filter(({ kind }) => kind === 'ipv4'))
  const ipv6 = joined(ranges.filter(({ kind }) => kind === 'ipv6'))
  return {
    count: ranges.length,
    has(ip) {
      if (isIPv4(ip)) return isWithin(ipv4, numberOfIpv4(ip))
      if (!isIPv6(ip)) return false
      const address = ipaddr.process(ip)
      return isWithin(address.kind() === 'ipv4' ? ipv4 : ipv6, addressNumber(address))
    },
  }
}

export function isInRanges(ip: string, ranges: string[]): boolean {
  return parseRanges(ranges.join('\n')).has(ip)
}

type Bounds = { kind: string; first: bigint; last: bigint }
/** Bounds of sorted, disjoint ranges. IPv4 addresses are numbers, which compare many times faster than bigint. */
type Sorted = { firsts: (number | bigint)[]; lasts: (number | bigint)[] }

function parseBounds(range: string, line: number): Bounds {
  try {
    const [address, bits] = parseRange(range)
    const kind = address.kind()
    const size = 1n << BigInt((kind === 'ipv4' ? 32 : 128) - bits)
    const first = (BigInt(addressNumber(address)) / size) * size
    return { kind, first, last: first + size - 1n }
  } catch (error) {
    throw new Error(`line ${line}: ${(error as Error).message}`)
  }
}

function joined(bounds: Bounds[]): Sorted {
  const sorted: Sorted = { firsts: [], lasts: [] }
  const shown = (value: bigint) => (value <= 0xffff_ffffn ? Number(value) : value)
  let end = -1n
  for (const { first, last } of bounds.toSorted((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0))) {
    if (last <= end) continue
    if (first > end) sorted.firsts.push(shown(first))
    else sorted.lasts.pop()
    sorted.lasts.push(shown(last))
    end = last
  }
  return sorted
}

function isWithin({ firsts, lasts }: Sorted, address: number | bigint): boolean {
  let from = 0
  let to = firsts.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((firsts[middle] as number | bigint) <= address) from = middle + 1
    else to = middle
  }
  return from > 0 && address <= (lasts[from - 1] as number | bigint)
}

function addressNumber(address: ipaddr.IPv4 | ipaddr.IPv6): number | bigint {
  const bytes = address.toByteArray()
  if (bytes.length === 4) return bytes.reduce((sum, byte) => sum * 256 + byte, 0)
  return bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
}

function numberOfIpv4(ip: string): number {
  let number = 0
  let part = 0
  for (let at = 0; at < ip.length; at++) {
    const code = ip.charCodeAt(at)
    if (code === dot) {
      number = number * 256 + part
      part = 0
    } else part = part * 10 + code - zero
  }
  return number * 256 + part
}

const [dot, zero] = [46, 48]

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses an IP address or CIDR range; accepts IPv4 ranges in IPv6 notation. */
export function parseRange(text: string): Range {
  const [address = '', bits, ...rest] = text.split('/')
  if (!isAddress(address) || rest.length > 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) throw notRange(text)
  const given = ipaddr.parse(address)
  const plain = ipaddr.process(address)
  const most = plain.kind() === 'ipv4' ? 32 : 128
  const unmapped = given.kind() === plain.kind() ? 0 : 96
  const length = bits === undefined ? most : Number(bits) - unmapped
  if (length < 0 || length > most) throw notRange(text)
  return [plain, length]
}

export function isAddress(text: string): boolean {
  return isIPv4(text) || ipaddr.IPv6.isValid(text)
}

function notRange(text: string): Error {
  return new Error(`${JSON.stringify(text)} is not an address or CIDR range, such as 10.0.0.0/8 or fd00::/8`)
}

/** Parses `192.0.2.1`, `192.0.2.1:53`, `2001:db8::1` or `[2001:db8::1]:53`. */
export function parseDnsServer(text: string): string {
  try {
    new Resolver().setServers([text])
    return text
  } catch {
    throw new Error(`${JSON.stringify(text)} is not a DNS server address, such as 192.0.2.1 or 192.0.2.1:53`)
  }
}

/** Parses an IPv4 or IPv6 address, and returns its shortest form. */
export function parseAddress(text: string): string {
  if (isAddress(text)) return ipaddr.process(text).toString()
  throw new Error(`${JSON.stringify(text)} is not an IP address, such as 192.0.2.1 or 2001:db8::1`)
}
