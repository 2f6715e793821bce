import * as contract from '@tributary/contract/analytics'
import { route } from '../../platform/http.ts'
import { retrieveAnalytics } from './service.ts'

export const analyticsRoutes = [route(contract.retrieveAnalytics, (ctx, { query }) => retrieveAnalytics(ctx, query))]
