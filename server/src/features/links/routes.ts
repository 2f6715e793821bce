import * as deleted from '@tributary/contract/deleted-links'
import { listLinkHistory as history } from '@tributary/contract/link-history'
import * as contract from '@tributary/contract/links'
import { checkSlug as slugCheck } from '@tributary/contract/slug-check'
import { route } from '../../platform/http.ts'
import { checkLinks, createLinks, deleteLinks, updateLinks } from './bulk.ts'
import { listDeletedLinks, restoreLink } from './deleted.ts'
import { listLinkHistory } from './history.ts'
import { countLinks, getLink, groupLinks, listLinks } from './list.ts'
import { linkTag } from './present.ts'
import { createLink, deleteLink, updateLink } from './service.ts'
import { checkSlug } from './slug-check.ts'
import { upsertLink } from './upsert.ts'

export const linksRoutes = [
  route(contract.createLink, (ctx, { body }) => createLink(ctx, body), undefined, { isGrouped: true }),
  route(contract.listLinks, (ctx, { query }) => listLinks(ctx, query)),
  route(contract.countLinks, (ctx, { query }) => countLinks(ctx, query)),
  route(contract.groupLinks, (ctx, { query }) => groupLinks(ctx, query)),
  route(contract.getLink, async (ctx, { query }, { setHeader }) => {
    const link = await getLink(ctx, query)
    setHeader('ETag', linkTag(link))
    return link
  }),
  route(contract.upsertLink, (ctx, { body }) => upsertLink(ctx, body)),
  route(contract.bulkCreateLinks, (ctx, { body }) => createLinks(ctx, body)),
  route(contract.checkLinks, (ctx, { body }) => checkLinks(ctx, body)),
  route(contract.bulkUpdateLinks, (ctx, { body }) => updateLinks(ctx, body)),
  route(contract.bulkDeleteLinks, (ctx, { query }) => deleteLinks(ctx, query.linkIds)),
  route(contract.updateLink, async (ctx, { params, body }, { header, setHeader }) => {
    const link = await updateLink(ctx, params.linkId, body, header('if-match'))
    setHeader('ETag', linkTag(link))
    return link
  }),
  route(contract.deleteLink, (ctx, { params }) => deleteLink(ctx, params.linkId)),
  route(deleted.listDeletedLinks, (ctx, { query }) => listDeletedLinks(ctx, query)),
  route(deleted.restoreLink, (ctx, { params }) => restoreLink(ctx, params.linkId)),
  route(history, (ctx, { params, query }) => listLinkHistory(ctx, params.linkId, query)),
  route(slugCheck, (ctx, { query }) => checkSlug(ctx, query)),
]
