import * as contract from '@tributary/contract/public-stats'
import type { Platform } from '../../platform/context.ts'
import { type OpenRoute, openRoute, route } from '../../platform/http.ts'
import { openPasswordCheck } from './password.ts'
import { changePublicStats, retrievePublicStats } from './service.ts'

export const publicStatsRoutes = [route(contract.changePublicStats, (ctx, { body }) => changePublicStats(ctx, body))]

const headers = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  Vary: 'X-Stats-Password',
  'X-Content-Type-Options': 'nosniff',
}
const longestPassword = 200

export function openPublicStatsRoutes(platform: Platform): OpenRoute[] {
  const checkPassword = openPasswordCheck(platform)
  return [
    openRoute(contract.retrievePublicStats, async (query, header, network) => {
      const password = header('x-stats-password').slice(0, longestPassword + 1)
      const stats = await retrievePublicStats(platform, query, (subject) => checkPassword(subject, password, network))
      const body = new TextEncoder().encode(JSON.stringify(contract.publicStats.parse(stats)))
      return { body, status: 200, headers }
    }),
  ]
}
