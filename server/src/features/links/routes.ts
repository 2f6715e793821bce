import * as contract from '@tributary/contract/links'
import { route } from '../../platform/http.ts'
import { createLink, listLinks } from './service.ts'

export const linksRoutes = [
  route(contract.createLink, (ctx, { body }) => createLink(ctx, body)),
  route(contract.listLinks, (ctx, { query }) => listLinks(ctx, query)),
]
