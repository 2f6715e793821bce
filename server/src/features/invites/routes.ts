import * as contract from '@tributary/contract/invites'
import { route } from '../../platform/http.ts'
import { acceptInvite } from './accept.ts'
import { createInvites, listInvites, renewInvite, revokeInvite } from './service.ts'

export const invitesRoutes = [
  route(contract.createInvites, (ctx, { body }) => createInvites(ctx, body)),
  route(contract.listInvites, (ctx, { query }) => listInvites(ctx, query)),
  route(contract.acceptInvite, (ctx, { body }) => acceptInvite(ctx, ctx.actor.id, body.token)),
  route(contract.renewInvite, (ctx, { params }) => renewInvite(ctx, params.id)),
  route(contract.revokeInvite, (ctx, { params }) => revokeInvite(ctx, params.id)),
]
