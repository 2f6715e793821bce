import * as contract from '@tributary/contract/journeys'
import { route } from '../../platform/http.ts'
import { getJourney } from './service.ts'

export const journeysRoutes = [
  route(contract.getJourney, async (ctx, { params, query }, { setHeader }) => {
    const { journey, next } = await getJourney(ctx, params.id, query)
    if (next) setHeader('X-Next-Cursor', next)
    return journey
  }),
]
