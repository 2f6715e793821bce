import * as contract from '@tributary/contract/members'
import { getUser as getUserOperation } from '@tributary/contract/user'
import * as workspaces from '@tributary/contract/workspaces'
import { route } from '../../platform/http.ts'
import { getMember, listMembers, removeMember, updateMember } from './service.ts'
import { getUser } from './user.ts'
import { createOwnWorkspace, leaveWorkspace, listOwnWorkspaces, transferWorkspace } from './workspaces.ts'

export const membersRoutes = [
  route(getUserOperation, (ctx) => getUser(ctx)),
  route(workspaces.listWorkspaces, (ctx, { query }) => listOwnWorkspaces(ctx, query)),
  route(workspaces.createWorkspace, (ctx, { body }) => createOwnWorkspace(ctx, body)),
  route(workspaces.leaveWorkspace, (ctx, { params }) => leaveWorkspace(ctx, params.idOrSlug)),
  route(workspaces.transferWorkspace, (ctx, { body }) => transferWorkspace(ctx, body.userId)),
  route(contract.listMembers, (ctx, { query }) => listMembers(ctx, query)),
  route(contract.getMember, (ctx, { params }) => getMember(ctx, params.userId)),
  route(contract.updateMember, (ctx, { params, body }) => updateMember(ctx, params.userId, body)),
  route(contract.removeMember, (ctx, { params }) => removeMember(ctx, params.userId)),
]
