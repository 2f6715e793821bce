import { Resolver } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { refuseInTransaction } from './postgres.ts'

export type Dns = {
  /** Returns TXT records, each joined into one string. */
  texts(name: string): Promise<string[]>
  /** Returns the CNAME target; valid DNS has at most one. */
  aliases(name: string): Promise<string[]>
  /** Returns IPv4 and IPv6 addresses in their shortest form. */
  addresses(name: string): Promise<string[]>
}

const timeoutMs = 1_500
const deadlineMs = 5_000

/**
 * Queries these DNS servers, or the system's. A missing name or record gives an empty list; a timeout is an error. All
 * queries of one returned object share one deadline.
 */
export function openDns(servers: string[]): Dns {
  const until = Date.now() + deadlineMs
  function ask<T>(resolve: (resolver: Resolver) => Promise<T[]>): Promise<T[]> {
    refuseInTransaction('DNS')
    const resolver = new Resolver({ timeout: timeoutMs, tries: 2 })
    if (servers.length > 0) resolver.setServers(servers)
    const deadline = setTimeout(() => resolver.cancel(), Math.max(0, until - Date.now()))
    return resolve(resolver)
      .catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENODATA' || error.code === 'ENOTFOUND') return []
        throw new Error(reasons[error.code ?? ''] ?? error.message, { cause: error })
      })
      .finally(() => clearTimeout(deadline))
  }

  return {
    async texts(name) {
      const records = await ask((resolver) => resolver.resolveTxt(name))
      return records.map((chunks) => chunks.join(''))
    },
    async aliases(name) {
      const names = await ask((resolver) => resolver.resolveCname(name))
      return names.map((alias) => alias.toLowerCase().replace(/\.$/, ''))
    },
    async addresses(name) {
      const found = await Promise.all([
        ask((resolver) => resolver.resolve4(name)),
        ask((resolver) => resolver.resolve6(name)),
      ])
      return found.flat().map(plainAddress)
    },
  }
}

function plainAddress(text: string): string {
  return ipaddr.process(text).toString()
}

const reasons: Record<string, string> = {
  ETIMEOUT: 'the query timed out',
  ECANCELLED: 'the query timed out',
  ECONNREFUSED: 'the server is unreachable',
  ESERVFAIL: 'the server failed',
  EREFUSED: 'the server refused the query',
}
