import * as contract from '@tributary/contract/setup-steps'
import { route } from '../../platform/http.ts'
import { listSetupSteps } from './service.ts'

export const setupStepsRoutes = [route(contract.listSetupSteps, (ctx) => listSetupSteps(ctx))]
