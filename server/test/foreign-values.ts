import { randomUUID } from 'node:crypto'
import type { BuiltWorkspace } from './build.ts'

/** Names and addresses of the other workspace's objects contain it. */
export const secret = `secret-${randomUUID()}`

/** A workspace with one object of each kind. */
export type Foreign = BuiltWorkspace & {
  linkId: string
  externalId: string
  tagId: string
  folderId: string
  customerId: string
  clickId: string
  webhookId: string
  eventId: string
  programId: string
  groupId: string
  partnerTagId: string
  discountId: string
  discountCodeId: string
  rewardId: string
  partnerId: string
  commissionId: string
  inviteId: string
  memberId: string
  utmTemplateId: string
  viewId: string
  noteId: string
  shareId: string
  bulkOperationId: string
  installCheckId: string
}

/** Returns an identifier of the other workspace, by parameter or field name. */
export function foreignValue(foreign: Foreign, name: string, path: string): unknown {
  const secret = foreign.externalId
  const idByNoun: Record<string, string> = {
    folders: foreign.folderId,
    customers: foreign.customerId,
    webhooks: foreign.webhookId,
    tags: foreign.tagId,
    programs: foreign.programId,
    groups: foreign.groupId,
    'partner-tags': foreign.partnerTagId,
    discounts: foreign.discountId,
    rewards: foreign.rewardId,
    partners: foreign.partnerId,
    commissions: foreign.commissionId,
    tokens: foreign.keyId,
    invites: foreign.inviteId,
    'utm-templates': foreign.utmTemplateId,
    views: foreign.viewId,
    notes: foreign.noteId,
    shares: foreign.shareId,
    'bulk-operations': foreign.bulkOperationId,
    'install-checks': foreign.installCheckId,
  }
  const byName: Record<string, unknown> = {
    id: idByNoun[path.split('/')[1] ?? ''],
    idOrSlug: foreign.id,
    userId: foreign.memberId,
    defaultDomain: foreign.domain,
    folders: [{ folderId: foreign.folderId, access: 'write' }],
    eventId: foreign.eventId,
    filter: { linkIds: [foreign.linkId], showArchived: true },
    actorId: foreign.keyId,
    targetId: foreign.linkId,
    groupId: foreign.groupId,
    partnerId: foreign.partnerId,
    programId: foreign.programId,
    idOrCode: foreign.discountCodeId,
    discountId: foreign.discountId,
    partnerIds: [foreign.partnerId],
    sourcePartnerId: foreign.partnerId,
    targetPartnerId: foreign.partnerId,
    commissionIds: [foreign.commissionId],
    webhookIds: [foreign.webhookId],
    folderIds: [foreign.folderId],
    ids: foreign.tagId,
    viewId: foreign.viewId,
    linkId: foreign.linkId,
    linkIds: path === '/links/bulk' || path.startsWith('/webhooks') ? [foreign.linkId] : foreign.linkId,
    startingAfter: listedId(foreign, path),
    endingBefore: listedId(foreign, path),
    externalId: path.startsWith('/customers') ? foreign.externalId : `ext_${foreign.externalId}`,
    email: `${secret}@example.com`,
    avatar: `https://example.com/${secret}.png`,
    stripeCustomerId: secret,
    customerId: foreign.customerId,
    customerExternalId: secret,
    customerName: secret,
    customerEmail: `${secret}@example.com`,
    customerAvatar: `https://example.com/${secret}.png`,
    clickId: foreign.clickId,
    invoiceId: secret,
    refundId: secret,
    leadEventName: secret,
    externalIds: [foreign.externalId],
    tagId: foreign.tagId,
    tagIds: path.startsWith('/partners')
      ? [foreign.partnerTagId]
      : path.startsWith('/bulk')
        ? [foreign.tagId]
        : foreign.tagId,
    tagNames: secret,
    folderId: foreign.folderId,
    domain: foreign.domain,
    domains: foreign.domain,
    slug: foreignSlug(foreign, path),
    key: secret,
    code: secret,
    name: secret,
    tag: secret,
    search: secret,
    // `localhost`, because tests must not look up host names.
    url: /^\/(metatags|install-checks)/.test(path) ? `http://localhost/${secret}` : `https://example.com/${secret}`,
  }
  return byName[name]
}

function foreignSlug(foreign: Foreign, path: string): string {
  if (path.startsWith('/workspaces')) return foreign.slug
  return path.startsWith('/groups') ? foreign.externalId : foreign.domain
}

/** The id of an object in the list of this path. */
function listedId(foreign: Foreign, path: string): string {
  if (path.startsWith('/customers')) return foreign.customerId
  return path.startsWith('/commissions') ? foreign.commissionId : foreign.linkId
}

/** Parameters that do not identify an object. */
export const harmless = new Set(
  `state replace event interval start end timezone country city region continent device browser os trigger referer refererUrl root
  saleType query qr page limit pageSize sort sortOrder sortBy order groupBy showArchived withTags archived primary
  placeholder expiredUrl notFoundUrl logo assetLinks appleAppSiteAssociation color description accessLevel
  trackConversion tenantId partnerTagId keyLength prefix publicStats
  comments expiresAt disabledAt password proxy title image video rewrite ios android geo doIndex utm_source utm_medium
  utm_campaign utm_term utm_content ref testVariants testStartedAt testCompletedAt data
  includeExpandedFields amount currency eventName eventQuantity metadata mode paymentProcessor cursor bots attributed visitors series
  triggers linkScope disabled status since enabled
  minPayoutAmount payoutMode supportEmail termsUrl helpUrl defaultLinks additionalLinks maxPartnerLinks holdingPeriodDays
  username companyName website youtube twitter linkedin instagram tiktok linkProps acceptUrl reason restoreCommissions
  action dryRun rejectionReason rejectionNote reapplicationTimeframe flagForFraud flagForFraudReason
  autoApprove moveRules type maxDuration provider couponId couponTestId codeWins
  amountInCents amountInPercentage modifiers spendLimitAmount spendLimitInterval spendLimitScope applyTo
  payoutId kind earnings saleAmount modifySaleAmount modifyAmount date customer lead leadEventDate sale saleEventDate
  importStripeInvoices productId isPinned scopes allowedHostnames showInactive overlapHours
  confirm role invites token timeZone weekStart attributionDays attributionModel ipStorage contactEmail
  conversionEnabled operation screen visibility theme language density dismissedHints screens builder
  shape markerShape fgColor bgColor markerColor level margin label day text from to endsAt showConversions
  domain_broken webhook_disabled key_expiring clicks_unusual weekly_report`.split(/\s+/),
)
