import * as contract from '@tributary/contract/views'
import { route } from '../../platform/http.ts'
import { createView, deleteView, listViews, updateView } from './service.ts'

export const viewsRoutes = [
  route(contract.listViews, (ctx, { query }) => listViews(ctx, query)),
  route(contract.createView, (ctx, { body }) => createView(ctx, body)),
  route(contract.updateView, (ctx, { params, body }) => updateView(ctx, params.id, body)),
  route(contract.deleteView, (ctx, { params }) => deleteView(ctx, params.id)),
]
