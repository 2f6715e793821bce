import { explainAttribution as explanation } from '@tributary/contract/events'
import * as contract from '@tributary/contract/track'
import * as forPages from '@tributary/contract/track-browser'
import { type Route, route } from '../../platform/http.ts'
import { type Capturing, trackClick, trackOpen, trackVisit } from './browser-clicks.ts'
import { explainAttribution } from './explain.ts'
import { trackLeadFromPage, trackSaleFromPage } from './from-page.ts'
import { trackCustomer, trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

export const trackRoutes = [
  route(contract.trackCustomer, (ctx, { body }) => trackCustomer(ctx, body)),
  route(contract.trackLead, async (ctx, { body }) =>
    ctx.actor.isPublishable ? trackLeadFromPage(ctx, body) : trackLead(ctx, body),
  ),
  route(contract.trackSale, async (ctx, { body }) =>
    ctx.actor.isPublishable ? trackSaleFromPage(ctx, body) : trackSale(ctx, body),
  ),
  route(contract.trackRefund, (ctx, { body }) => trackRefund(ctx, body)),
  route(explanation, (ctx, { params }) => explainAttribution(ctx, params.eventId)),
]

export function trackPageRoutes(capturing: Capturing): Route[] {
  return [
    route(forPages.trackClick, (caller, { body }) => trackClick(capturing, body, caller)),
    route(forPages.trackVisit, (caller, { body }) => trackVisit(capturing, body, caller)),
    route(forPages.trackOpen, (caller, { body }) => trackOpen(capturing, body, caller)),
  ]
}
