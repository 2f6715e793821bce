import type { IncomingMessage } from 'node:http'
import ipaddr from 'ipaddr.js'

export type Peers = { isTrusted(address: string): boolean; isLoopback(address: string): boolean }
export type Client = { ip: string; secure: boolean; trusted: boolean; loopback: boolean }

export function knownPeers(ranges: string[]): Peers {
  const parsed = ranges.map((range) => (range.includes('/') ? ipaddr.parseCIDR(range) : wholeAddress(range)))
  return {
    isTrusted: (address) => ipaddr.isValid(address) && parsed.some((range) => matches(ipaddr.process(address), range)),
    isLoopback: (address) => ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback',
  }
}

/** Who is really asking: forwarded headers count only when a trusted proxy sent them. */
export function clientOf(request: Pick<IncomingMessage, 'headers' | 'socket'>, peers: Peers): Client {
  const peer = request.socket.remoteAddress ?? ''
  const encrypted = 'encrypted' in request.socket && request.socket.encrypted === true
  const trusted = peers.isTrusted(peer)
  return {
    ip: plain(trusted ? forwardedFor(String(request.headers['x-forwarded-for'] ?? ''), peer, peers) : peer),
    secure: encrypted || (trusted && request.headers['x-forwarded-proto'] === 'https'),
    trusted,
    loopback: peers.isLoopback(peer),
  }
}

/** The nearest address that is not one of ours: anything further left could have been written by the visitor. */
function forwardedFor(header: string, peer: string, peers: Peers): string {
  const chain = header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => ipaddr.isValid(part))
  return chain.findLast((address) => !peers.isTrusted(address)) ?? chain[0] ?? peer
}

function plain(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : ''
}

function wholeAddress(address: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const parsed = ipaddr.process(address)
  return [parsed, parsed.kind() === 'ipv4' ? 32 : 128]
}

function matches(address: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  return address.kind() === network.kind() && address.match(network, bits)
}
