import * as contract from '@tributary/contract/preferences'
import { route } from '../../platform/http.ts'
import { getPreferences, updatePreferences } from './service.ts'

export const preferencesRoutes = [
  route(contract.getPreferences, (ctx) => getPreferences(ctx)),
  route(contract.updatePreferences, (ctx, { body }) => updatePreferences(ctx, body)),
]
