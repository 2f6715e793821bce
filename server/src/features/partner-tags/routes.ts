import * as contract from '@tributary/contract/partner-tags'
import { route } from '../../platform/http.ts'
import { createPartnerTag, deletePartnerTag, listPartnerTags, updatePartnerTag } from './service.ts'

export const partnerTagsRoutes = [
  route(contract.listPartnerTags, (ctx, { query }) => listPartnerTags(ctx, query)),
  route(contract.createPartnerTag, (ctx, { body }) => createPartnerTag(ctx, body)),
  route(contract.updatePartnerTag, (ctx, { params, body }) => updatePartnerTag(ctx, params.id, body)),
  route(contract.deletePartnerTag, (ctx, { params }) => deletePartnerTag(ctx, params.id)),
]
