import { Resolver } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { refuseInTransaction } from './postgres.ts'

export type Dns = {
  /** The texts of the TXT records, each in one piece. */
  texts(name: string): Promise<string[]>
  /** What the name is an alias of: one name at most in proper DNS. */
  aliases(name: string): Promise<string[]>
  /** IPv4 and IPv6, in their shortest form. */
  addresses(name: string): Promise<string[]>
}

const timeoutMs = 1_500
const deadlineMs = 5_000

/**
 * Asks these servers, or those of the system. No such name or record is an empty list; no answer is an error. All
 * questions together get some seconds from now, however many follow one from another.
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
  ETIMEOUT: 'it took too long',
  ECANCELLED: 'it took too long',
  ECONNREFUSED: 'the server could not be reached',
  ESERVFAIL: 'the server failed',
  EREFUSED: 'the server refused the question',
}
