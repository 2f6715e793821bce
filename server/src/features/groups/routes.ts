import * as contract from '@tributary/contract/groups'
import { route } from '../../platform/http.ts'
import { createGroup, getGroup, listGroups, updateGroup } from './service.ts'

export const groupsRoutes = [
  route(contract.listGroups, (ctx, { query }) => listGroups(ctx, query)),
  route(contract.getGroup, (ctx, { params }) => getGroup(ctx, params.id)),
  route(contract.createGroup, (ctx, { body }) => createGroup(ctx, body)),
  route(contract.updateGroup, (ctx, { params, body }) => updateGroup(ctx, params.id, body)),
]
