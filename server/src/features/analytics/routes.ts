import * as contract from '@tributary/contract/analytics'
import { route } from '../../platform/http.ts'
import { retrieveAnalytics, retrieveAnalyticsBatch, retrieveLinkStats, retrieveVisitorsNow } from './service.ts'

export const analyticsRoutes = [
  route(contract.retrieveAnalytics, (ctx, { query }) => retrieveAnalytics(ctx, query)),
  route(contract.retrieveAnalyticsBatch, (ctx, { body }) => retrieveAnalyticsBatch(ctx, body)),
  route(contract.retrieveLinkStats, (ctx, { query }) => retrieveLinkStats(ctx, query)),
  route(contract.retrieveVisitorsNow, (ctx, { query }) => retrieveVisitorsNow(ctx, query)),
]
