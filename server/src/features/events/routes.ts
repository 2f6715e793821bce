import * as contract from '@tributary/contract/events'
import { route } from '../../platform/http.ts'
import { listEvents } from './service.ts'

export const eventsRoutes = [route(contract.listEvents, (ctx, { query }) => listEvents(ctx, query))]
