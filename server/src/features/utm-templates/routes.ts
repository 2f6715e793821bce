import * as contract from '@tributary/contract/utm-templates'
import { route } from '../../platform/http.ts'
import { createUtmTemplate, deleteUtmTemplate, listUtmTemplates, updateUtmTemplate } from './service.ts'

export const utmTemplatesRoutes = [
  route(contract.listUtmTemplates, (ctx, { query }) => listUtmTemplates(ctx, query)),
  route(contract.createUtmTemplate, (ctx, { body }) => createUtmTemplate(ctx, body)),
  route(contract.updateUtmTemplate, (ctx, { params, body }) => updateUtmTemplate(ctx, params.id, body)),
  route(contract.deleteUtmTemplate, (ctx, { params }) => deleteUtmTemplate(ctx, params.id)),
]
