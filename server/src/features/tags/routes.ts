import * as contract from '@tributary/contract/tags'
import { route } from '../../platform/http.ts'
import { createTag, deleteTag, listTags, updateTag } from './service.ts'

export const tagsRoutes = [
  route(contract.listTags, (ctx, { query }) => listTags(ctx, query)),
  route(contract.createTag, (ctx, { body }) => createTag(ctx, body)),
  route(contract.updateTag, (ctx, { params, body }) => updateTag(ctx, params.id, body)),
  route(contract.deleteTag, (ctx, { params }) => deleteTag(ctx, params.id)),
]
