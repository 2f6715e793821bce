import * as contract from '@tributary/contract/public-stats'
import { clientNetwork } from '../../platform/client-address.ts'
import type { Platform } from '../../platform/context.ts'
import { type Bytes, type Route, route } from '../../platform/http.ts'
import { openPasswordCheck } from './password.ts'
import { changePublicStats, retrievePublicStats } from './service.ts'

const headers = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  Vary: 'X-Stats-Password',
  'X-Content-Type-Options': 'nosniff',
}
const longestPassword = 200

export function publicStatsRoutes(platform: Platform): Route[] {
  const checkPassword = openPasswordCheck(platform)
  return [
    route(contract.changePublicStats, (ctx, { body }) => changePublicStats(ctx, body)),
    route(contract.retrievePublicStats, async ({ ip }, { query }, { header }): Promise<Bytes> => {
      const network = clientNetwork(ip)
      const password = header('x-stats-password').slice(0, longestPassword + 1)
      const stats = await retrievePublicStats(platform, query, (subject) => checkPassword(subject, password, network))
      const body = new TextEncoder().encode(JSON.stringify(contract.publicStats.parse(stats)))
      return { body, status: 200, headers }
    }),
  ]
}
