import * as contract from '@tributary/contract/qr-designs'
import { type Route, route } from '../../platform/http.ts'
import { checkDesign } from './check.ts'
import { deleteDesign, getDesign, type Owner, setDesign, testDesign } from './service.ts'

const link = ({ linkId }: { linkId: string }): Owner => ({ kind: 'link', name: linkId })
const domain = ({ slug }: { slug: string }): Owner => ({ kind: 'domain', name: slug })
const workspace = ({ idOrSlug }: { idOrSlug: string }): Owner => ({ kind: 'workspace', name: idOrSlug })

export const qrDesignsRoutes: Route[] = [
  route(contract.getLinkQrDesign, (ctx, { params }) => getDesign(ctx, link(params))),
  route(
    contract.setLinkQrDesign,
    (ctx, { params, body }, _exchange, scans: boolean) => setDesign(ctx, link(params), body, scans),
    (ctx, { params, body }) => testDesign(ctx, link(params), body),
  ),
  route(contract.deleteLinkQrDesign, (ctx, { params }) => deleteDesign(ctx, link(params))),
  route(contract.getDomainQrDesign, (ctx, { params }) => getDesign(ctx, domain(params))),
  route(
    contract.setDomainQrDesign,
    (ctx, { params, body }, _exchange, scans: boolean) => setDesign(ctx, domain(params), body, scans),
    (ctx, { params, body }) => testDesign(ctx, domain(params), body),
  ),
  route(contract.deleteDomainQrDesign, (ctx, { params }) => deleteDesign(ctx, domain(params))),
  route(contract.getWorkspaceQrDesign, (ctx, { params }) => getDesign(ctx, workspace(params))),
  route(
    contract.setWorkspaceQrDesign,
    (ctx, { params, body }, _exchange, scans: boolean) => setDesign(ctx, workspace(params), body, scans),
    (ctx, { params, body }) => testDesign(ctx, workspace(params), body),
  ),
  route(contract.deleteWorkspaceQrDesign, (ctx, { params }) => deleteDesign(ctx, workspace(params))),
  route(contract.checkQrDesign, (ctx, { body }) => checkDesign(ctx, body)),
]
