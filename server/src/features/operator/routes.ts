import { getOperatorStatus } from '@tributary/contract/operator'
import { route } from '../../platform/http.ts'
import { getStatus } from './service.ts'

export const operatorRoutes = [route(getOperatorStatus, (ctx) => getStatus(ctx))]
