import * as groups from '@tributary/contract/groups'
import { route } from '../../platform/http.ts'
import { addToGroup, removeGroup } from './service.ts'

export const enrolmentsRoutes = [
  route(groups.deleteGroup, (ctx, { params }) => removeGroup(ctx, params.id)),
  route(groups.addGroupPartners, (ctx, { params, body }) => addToGroup(ctx, params.id, body.partnerIds)),
]
