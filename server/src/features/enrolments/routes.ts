import * as groups from '@tributary/contract/groups'
import * as applications from '@tributary/contract/partner-applications'
import * as links from '@tributary/contract/partner-links'
import * as partners from '@tributary/contract/partners'
import type { Platform } from '../../platform/context.ts'
import { type Route, route } from '../../platform/http.ts'
import { partnerAnalytics } from './analytics.ts'
import { answerInvite, applyToProgram, confirmApplication, invitePartner, listApplications } from './applications.ts'
import { changePartners } from './bulk.ts'
import { addToGroup, removeGroup } from './groups.ts'
import { createPartnerLink, listPartnerLinks, putPartnerLink } from './links.ts'
import { mergePartners } from './merge.ts'
import type { MoneyEffects } from './money.ts'
import { createPartner, getPartner, listPartners, updatePartner } from './service.ts'
import {
  approvePartner,
  archivePartner,
  banPartner,
  deactivatePartner,
  reactivatePartner,
  rejectPartner,
  unbanPartner,
} from './transitions.ts'

export function enrolmentsRoutes(platform: Platform, money: MoneyEffects): Route[] {
  return [
    route(partners.listPartners, (ctx, { query }) => listPartners(ctx, query)),
    route(partners.createPartner, (ctx, { body }) => createPartner(ctx, body)),
    route(partners.banPartner, (ctx, { body }) => banPartner(ctx, money, body)),
    route(partners.unbanPartner, (ctx, { body }) => unbanPartner(ctx, money, body)),
    route(partners.deactivatePartner, (ctx, { body }) => deactivatePartner(ctx, body)),
    route(partners.reactivatePartner, (ctx, { body }) => reactivatePartner(ctx, body)),
    route(partners.archivePartner, (ctx, { body }) => archivePartner(ctx, body)),
    route(partners.mergePartners, (ctx, { body }) => mergePartners(ctx, money, body)),
    route(partners.bulkPartners, (ctx, { body }) => changePartners(ctx, money, body), undefined, { isGrouped: true }),
    route(links.createPartnerLink, (ctx, { body }) => createPartnerLink(ctx, body)),
    route(links.upsertPartnerLink, (ctx, { body }) => putPartnerLink(ctx, body)),
    route(links.retrievePartnerLinks, (ctx, { query }) => listPartnerLinks(ctx, query)),
    route(links.retrievePartnerAnalytics, (ctx, { query }) => partnerAnalytics(ctx, query)),
    route(applications.listPartnerApplications, (ctx, { query }) => listApplications(ctx, query)),
    route(applications.approvePartnerApplication, (ctx, { body }) => approvePartner(ctx, body)),
    route(applications.rejectPartnerApplication, (ctx, { body }) => rejectPartner(ctx, body)),
    route(applications.invitePartner, (ctx, { body }) => invitePartner(ctx, body)),
    route(applications.applyToProgram, (_, { body }) => applyToProgram(platform, body)),
    route(applications.confirmApplication, (_, { body }) => confirmApplication(platform, body.token)),
    route(applications.acceptPartnerInvite, (_, { body }) => answerInvite(platform, body)),
    // After the paths with words in the place of the id.
    route(partners.getPartner, (ctx, { params }) => getPartner(ctx, params.id)),
    route(partners.updatePartner, (ctx, { params, body }) => updatePartner(ctx, params.id, body)),
    route(groups.deleteGroup, (ctx, { params }) => removeGroup(ctx, params.id)),
    route(groups.addGroupPartners, (ctx, { params, body }) => addToGroup(ctx, params.id, body.partnerIds)),
  ]
}
