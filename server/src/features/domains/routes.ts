import * as contract from '@tributary/contract/domains'
import { route } from '../../platform/http.ts'
import { createDomain, proveTakeover, registerDomain } from './add.ts'
import { deleteDomain, updateDomain } from './change.ts'
import { checkDomainStatus, getDomainRecords, listDomains } from './service.ts'

export const domainsRoutes = [
  route(contract.listDomains, (ctx, { query }) => listDomains(ctx, query)),
  route(
    contract.createDomain,
    (ctx, { body }, _exchange, isProved: boolean) => createDomain(ctx, body, isProved),
    (ctx, { body }) => proveTakeover(ctx, body.slug),
  ),
  route(contract.updateDomain, (ctx, { params, body }) => updateDomain(ctx, params.slug, body)),
  route(contract.deleteDomain, (ctx, { params }) => deleteDomain(ctx, params.slug)),
  route(contract.getDomainRecords, (ctx, { params }) => getDomainRecords(ctx, params.slug)),
  route(contract.checkDomainStatus, (ctx, { query }) => checkDomainStatus(ctx, query.domains)),
  route(
    contract.registerDomain,
    (ctx, { body }, _exchange, isProved: boolean) => registerDomain(ctx, body.domain, isProved),
    (ctx, { body }) => proveTakeover(ctx, body.domain),
  ),
]
