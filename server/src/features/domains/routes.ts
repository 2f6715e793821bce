import * as contract from '@tributary/contract/domains'
import type { Platform } from '../../platform/context.ts'
import { type Bytes, type Route, route } from '../../platform/http.ts'
import { createDomain, proveTakeover, registerDomain } from './add.ts'
import { deleteDomain, updateDomain } from './change.ts'
import { checkDomainStatus, getDomainRecords, listDomains, recheckDomain } from './service.ts'
import { createSetupPage, deleteSetupPage, readSetupPage } from './setup-page.ts'
import { setupPageHeaders } from './setup-page-html.ts'

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
  route(contract.recheckDomain, (ctx, { params }) => recheckDomain(ctx, params.slug)),
  route(contract.createDomainSetupPage, (ctx, { params }) => createSetupPage(ctx, params.slug)),
  route(contract.deleteDomainSetupPage, (ctx, { params }) => deleteSetupPage(ctx, params.slug)),
  route(contract.checkDomainStatus, (ctx, { query }) => checkDomainStatus(ctx, query.domains)),
  route(
    contract.registerDomain,
    (ctx, { body }, _exchange, isProved: boolean) => registerDomain(ctx, body.domain, isProved),
    (ctx, { body }) => proveTakeover(ctx, body.domain),
  ),
]

export function domainPages(platform: Platform): Route[] {
  return [
    route(contract.getDomainSetupPage, async (_caller, { query }): Promise<Bytes> => {
      const { html, isFound } = await readSetupPage(platform, query.token)
      return { body: Buffer.from(html), status: isFound ? 200 : 404, headers: setupPageHeaders }
    }),
  ]
}
