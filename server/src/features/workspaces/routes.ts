import * as contract from '@tributary/contract/workspaces'
import { type Route, route } from '../../platform/http.ts'
import { deleteWorkspace, getWorkspaceDeletion } from './delete.ts'
import { getWorkspace, updateWorkspace, type WorkspaceParts } from './settings.ts'
import { getWorkspaceUsage } from './usage.ts'

export function workspacesRoutes(parts: WorkspaceParts): Route[] {
  return [
    route(contract.getWorkspace, (ctx, { params }) => getWorkspace(ctx, parts, params.idOrSlug)),
    route(contract.updateWorkspace, (ctx, { params, body }) => updateWorkspace(ctx, parts, params.idOrSlug, body)),
    route(contract.getWorkspaceUsage, (ctx, { params }) => getWorkspaceUsage(ctx, parts, params.idOrSlug)),
    route(contract.deleteWorkspace, (ctx, { params, query }) => deleteWorkspace(ctx, params.idOrSlug, query.confirm)),
    route(contract.getWorkspaceDeletion, (ctx, { params }) => getWorkspaceDeletion(ctx, params.idOrSlug)),
  ]
}
