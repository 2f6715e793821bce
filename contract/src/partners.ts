import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { linkBody, newLink } from './links.ts'
import { errorCodes, operation } from './operation.ts'
import { emailAddress, webUrl } from './programs.ts'

export const partnerStatuses = [
  'pending',
  'approved',
  'rejected',
  'invited',
  'declined',
  'deactivated',
  'banned',
  'archived',
] as const
export const banReasons = [
  'tos_violation',
  'inappropriate_content',
  'fake_traffic',
  'fraud',
  'spam',
  'brand_abuse',
] as const
export const rejectionReasons = ['needsMoreDetail', 'doesNotMeetRequirements', 'notTheRightFit', 'other'] as const

const text = z.string().nullable()
const total = z.number().meta({ default: 0 })
const ratio = z.number().nullable()
const time = instant.nullable()

export const partnerLink = z
  .strictObject({
    id: z.string(),
    domain: z.string(),
    key: z.string(),
    shortLink: z.string(),
    url: z.string(),
    clicks: total,
    leads: total,
    conversions: total,
    sales: total,
    saleAmount: total,
  })
  .meta({ id: 'PartnerLink' })
export type PartnerLink = z.infer<typeof partnerLink>

export const socials = {
  website: text,
  youtube: text,
  twitter: text,
  linkedin: text,
  instagram: text,
  tiktok: text,
}

export const partner = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    username: text,
    email: text,
    image: text,
    description: text,
    country: text,
    companyName: text,
    networkStatus: z.enum(['draft', 'submitted', 'approved', 'rejected', 'trusted']).describe('Always `draft`.'),
    defaultPayoutMethod: z.enum(['connect', 'stablecoin', 'paypal', 'tremendous']).nullable(),
    paypalEmail: text,
    stripeConnectId: text,
    payoutsEnabledAt: time,
    identityVerifiedAt: time,
    programId: z.string(),
    groupId: text,
    partnerId: z.string().describe('Equal to `id`.'),
    tenantId: text.describe('Id of the partner in your own database, unique in the program.'),
    createdAt: instant,
    status: z.enum(partnerStatuses),
    links: z
      .array(partnerLink)
      .nullable()
      .describe('The newest 100 links of the partner; fewer if their URLs have more than 80,000 bytes together.'),
    clickRewardId: text,
    leadRewardId: text,
    saleRewardId: text,
    referralRewardId: text,
    discountId: text,
    applicationId: text,
    bannedAt: time,
    bannedReason: z.enum(banReasons).nullable(),
    referralFormData: z.null(),
    application: z
      .strictObject({ rejectionReason: z.enum(rejectionReasons).nullable(), rejectionNote: text, reviewedAt: time })
      .nullable(),
    tags: z.array(z.strictObject({ id: z.string(), name: z.string() })),
    totalClicks: total,
    totalLeads: total,
    totalConversions: total,
    totalSales: total,
    totalSaleAmount: total,
    totalCommissions: total.describe("Earnings in the smallest unit of the program's currency."),
    netRevenue: total.describe('`totalSaleAmount` less `totalCommissions`.'),
    earningsPerClick: ratio.describe('`totalSaleAmount` by `totalClicks`.'),
    averageLifetimeValue: ratio.describe('`totalSaleAmount` by `totalConversions`.'),
    clickToLeadRate: ratio,
    clickToConversionRate: ratio,
    leadToConversionRate: ratio,
    returnOnAdSpend: ratio.describe('`totalSaleAmount` by `totalCommissions`.'),
    ...socials,
    trustedAt: time,
  })
  .meta({ id: 'Partner' })
export type Partner = z.infer<typeof partner>

/** How a request names a partner: `partnerId` wins over `tenantId`. */
export const partnerName = {
  partnerId: z.string().max(255).nullish().describe('Id of the partner. Wins over `tenantId`.'),
  tenantId: z.string().max(255).nullish().describe('Id of the partner in your own database.'),
}

export const linkProps = newLink
  .pick({
    externalId: true,
    tenantId: true,
    prefix: true,
    archived: true,
    tagIds: true,
    tagNames: true,
    comments: true,
    expiresAt: true,
    expiredUrl: true,
    password: true,
    proxy: true,
    title: true,
    description: true,
    image: true,
    video: true,
    rewrite: true,
    ios: true,
    android: true,
    doIndex: true,
    testVariants: true,
    testStartedAt: true,
    testCompletedAt: true,
  })
  .meta({ id: 'PartnerLinkProps' })
export type LinkProps = z.infer<typeof linkProps>

const country = z
  .string()
  .regex(/^[a-zA-Z]{2}$/, 'it is not a country code of two letters')
  .toUpperCase()
const groupId = z.string().max(100)
/** Fields of a profile that partners and programs may set. */
export const profile = {
  username: plainText(100).nullish(),
  image: webUrl.nullish(),
  country: country.nullish().describe('Country code of two letters.'),
  description: z.string().max(5_000).nullish(),
  companyName: plainText(190).nullish(),
  website: plainText(500).nullish(),
  youtube: plainText(500).nullish(),
  twitter: plainText(500).nullish(),
  linkedin: plainText(500).nullish(),
  instagram: plainText(500).nullish(),
  tiktok: plainText(500).nullish(),
}
const tenantId = z.string().min(1).max(255)

export const newPartner = z
  .object({
    email: emailAddress.describe('Unique in the program.'),
    name: plainText(100).nullish().describe('The e-mail address when omitted.'),
    tenantId: tenantId.optional(),
    groupId: groupId.optional().describe('The default group when omitted.'),
    ...profile,
    linkProps: linkProps.optional().describe('Settings of the default links.'),
  })
  .meta({ id: 'NewPartner' })
export type NewPartner = z.infer<typeof newPartner>

export const partnerPatch = z
  .object({
    email: emailAddress.optional(),
    name: plainText(100).min(1).optional(),
    tenantId: tenantId.nullable().optional(),
    groupId: groupId.optional(),
    isPinned: z.boolean().optional().describe('Whether the partner stays in its group, whatever the move rules say.'),
    tagIds: z.array(z.string().max(100)).max(100).optional().describe('Partner tags, which replace the current ones.'),
    ...profile,
  })
  .meta({ id: 'PartnerPatch' })
export type PartnerPatch = z.infer<typeof partnerPatch>

const open = { tag: 'Partners' } as const
const reads = { ...open, method: 'get', scope: 'partners.read' } as const
const writes = { ...open, method: 'post', scope: 'partners.write' } as const
const params = z.object({ id: z.string().describe('Id of the partner.') })
export const partnerResult = z.strictObject({ partnerId: z.string() }).meta({ id: 'PartnerResult' })
export type PartnerResult = z.infer<typeof partnerResult>

export const partnerSorts = [
  'totalSaleAmount',
  'createdAt',
  'totalClicks',
  'totalLeads',
  'totalConversions',
  'totalCommissions',
  'netRevenue',
  'earningsPerClick',
  'averageLifetimeValue',
  'clickToLeadRate',
  'clickToConversionRate',
  'leadToConversionRate',
  'returnOnAdSpend',
] as const

export const listPartners = operation({
  ...reads,
  id: 'listPartners',
  path: '/partners',
  summary: 'List partners',
  description: '`tenantId` wins over `email`, and `email` over `search`.',
  query: z.object({
    groupId: z.string().optional().describe('Only partners of this group.'),
    status: z.enum(partnerStatuses).optional(),
    country: z.string().optional().describe('Country code of two letters.'),
    email: z.string().max(190).optional(),
    tenantId: z.string().max(255).optional(),
    search: z.string().max(190).optional().describe('Text in the id, name, e-mail address or company name.'),
    ...listing(100, partnerSorts, 'desc'),
  }),
  response: z.array(partner),
})
export type PartnersQuery = z.output<typeof listPartners.query>

export const getPartner = operation({
  ...reads,
  id: 'getPartner',
  path: '/partners/{id}',
  summary: 'Get a partner',
  description: 'Returns a partner with its links, tags and totals.',
  params,
  response: partner,
})

export const createPartner = operation({
  ...writes,
  id: 'createPartner',
  path: '/partners',
  summary: 'Create a partner',
  description:
    'Creates an approved partner with the default links of its group. If a partner with this e-mail address exists, it is returned; only its `tenantId` changes.',
  body: newPartner,
  ...linkBody,
  status: 201,
  response: partner,
})

export const updatePartner = operation({
  ...open,
  id: 'updatePartner',
  method: 'patch',
  path: '/partners/{id}',
  summary: 'Update a partner',
  description:
    'Changes the profile, group or tags of a partner. Omitted fields stay unchanged. Customers with a sale keep their terms when the partner moves to another group.',
  scope: 'partners.write',
  params,
  body: partnerPatch,
  response: partner,
})

export const banPartner = operation({
  ...writes,
  id: 'banPartner',
  path: '/partners/ban',
  summary: 'Ban a partner',
  description: 'Disables the links of the partner and cancels its unpaid commissions.',
  body: z.object({ ...partnerName, reason: z.enum(banReasons) }).meta({ id: 'PartnerBan' }),
  response: partnerResult,
})

export const unbanPartner = operation({
  ...writes,
  id: 'unbanPartner',
  path: '/partners/unban',
  summary: 'Lift the ban of a partner',
  description: 'Approves a banned partner; its links work as before the ban.',
  body: z
    .object({
      ...partnerName,
      restoreCommissions: z.boolean().optional().describe('Restores the commissions that the ban canceled.'),
    })
    .meta({ id: 'PartnerUnban' }),
  response: partnerResult,
})

const named = z.object(partnerName).meta({ id: 'PartnerName' })

export const deactivatePartner = operation({
  ...writes,
  id: 'deactivatePartner',
  path: '/partners/deactivate',
  summary: 'Deactivate a partner',
  description: 'Stops the links of an approved or archived partner. Open commissions are still paid.',
  body: named,
  response: partnerResult,
})

export const reactivatePartner = operation({
  ...writes,
  id: 'reactivatePartner',
  path: '/partners/reactivate',
  summary: 'Reactivate a partner',
  description: 'Approves a deactivated partner; its links work again.',
  body: named,
  response: partnerResult,
})

export const archivePartner = operation({
  ...writes,
  id: 'archivePartner',
  path: '/partners/archive',
  summary: 'Archive a partner',
  description:
    'Archives an approved partner, or with `archived: false` approves an archived one. Money is not affected.',
  body: z.object({ ...partnerName, archived: z.boolean().default(true) }).meta({ id: 'PartnerArchive' }),
  response: partnerResult,
})

export const mergePartners = operation({
  ...writes,
  id: 'mergePartners',
  path: '/partners/merge',
  summary: 'Merge two partners',
  description:
    'Moves the links, codes, commissions and totals of the source to the target. The id of the source then names the target.',
  body: z
    .object({ sourcePartnerId: z.string().max(255), targetPartnerId: z.string().max(255) })
    .meta({ id: 'PartnerMerge' }),
  response: partnerResult,
})

export const bulkActions = ['approve', 'reject', 'ban', 'unban', 'deactivate', 'reactivate', 'archive', 'move'] as const

export const bulkPartners = operation({
  ...writes,
  id: 'bulkPartners',
  path: '/partners/bulk',
  summary: 'Change many partners',
  description:
    'Applies one action to up to 1,000 partners, or to 100 with an `Idempotency-Key`. The response has a result for each; with `dryRun`, nothing changes.',
  body: z
    .object({
      action: z.enum(bulkActions),
      partnerIds: z.array(z.string().max(255)).min(1).max(1_000),
      groupId: groupId.optional().describe('Target of `move`, and optional for `approve`.'),
      reason: z.enum(banReasons).optional().describe('Required for `ban`.'),
      rejectionReason: z.enum(rejectionReasons).optional(),
      rejectionNote: z.string().max(500).optional(),
      dryRun: z.boolean().default(false),
    })
    .meta({ id: 'BulkPartners' }),
  response: z.array(
    z
      .strictObject({
        partnerId: z.string(),
        status: z.enum(partnerStatuses).nullable().describe('Status after the action; null for an unknown partner.'),
        error: z.strictObject({ code: z.enum(errorCodes), message: z.string() }).nullable(),
      })
      .meta({ id: 'BulkPartnerResult' }),
  ),
})
export type BulkPartners = z.output<typeof bulkPartners.body>
export type BulkPartnerResult = z.output<typeof bulkPartners.response>[number]
