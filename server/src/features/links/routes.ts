import * as contract from '@tributary/contract/links'
import { route } from '../../platform/http.ts'
import { createLinks, deleteLinks, updateLinks } from './bulk.ts'
import { countLinks, getLink, groupLinks, listLinks } from './list.ts'
import { createLink, deleteLink, updateLink } from './service.ts'
import { upsertLink } from './upsert.ts'

export const linksRoutes = [
  route(contract.createLink, (ctx, { body }) => createLink(ctx, body), undefined, { isGrouped: true }),
  route(contract.listLinks, (ctx, { query }) => listLinks(ctx, query)),
  route(contract.countLinks, (ctx, { query }) => countLinks(ctx, query)),
  route(contract.groupLinks, (ctx, { query }) => groupLinks(ctx, query)),
  route(contract.getLink, (ctx, { query }) => getLink(ctx, query)),
  route(contract.upsertLink, (ctx, { body }) => upsertLink(ctx, body)),
  route(contract.bulkCreateLinks, (ctx, { body }) => createLinks(ctx, body)),
  route(contract.bulkUpdateLinks, (ctx, { body }) => updateLinks(ctx, body)),
  route(contract.bulkDeleteLinks, (ctx, { query }) => deleteLinks(ctx, query.linkIds)),
  route(contract.updateLink, (ctx, { params, body }) => updateLink(ctx, params.linkId, body)),
  route(contract.deleteLink, (ctx, { params }) => deleteLink(ctx, params.linkId)),
]
