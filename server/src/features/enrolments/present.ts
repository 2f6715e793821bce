import { boundedSum } from '@tributary/contract/common'
import type { Partner, PartnerLink } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { discountsByGroup } from '../discounts/service.ts'
import { type Group, groupsByNumber } from '../groups/service.ts'
import { partnerLinks } from '../links/service.ts'
import { type Partner as PartnerRow, type Totals, tagsByPartner, totalsByPartner } from '../partners/service.ts'
import { type ProgramRecord, requireProgram } from '../programs/service.ts'
import { currentRewards } from '../rewards/service.ts'

// A page of partners with the longest URLs stays below ten megabytes, and one partner fits into a message.
const linksShown = { links: 100, urlBytes: 80_000 }

type Facts = {
  program: Pick<ProgramRecord, 'id'>
  groups: Map<bigint, Pick<Group, 'id'>>
  discounts: Map<bigint, { id: string }>
  totals: Map<bigint, Totals>
  tags: Map<bigint, Partner['tags']>
  links: Map<string, PartnerLink[]>
  rewards: Awaited<ReturnType<typeof currentRewards>>
}

export async function presentPartners(ctx: Ctx, rows: PartnerRow[]): Promise<Partner[]> {
  if (rows.length === 0) return []
  const numbers = rows.map((row) => row.number)
  const groupNumbers = rows.map((row) => row.group_number)
  const ids = rows.map((row) => row.id)
  const facts = {
    program: await requireProgram(ctx),
    groups: await groupsByNumber(ctx, groupNumbers),
    discounts: await discountsByGroup(ctx, groupNumbers),
    totals: await totalsByPartner(ctx, numbers),
    tags: await tagsByPartner(ctx, numbers),
    links: await partnerLinks(ctx, ids, linksShown),
    rewards: await readRewards(ctx, rows),
  }
  return rows.map((row) => present(row, facts))
}

/** Presents a partner that has neither totals nor tags yet. */
export async function presentNewPartner(ctx: Ctx, row: PartnerRow, program: ProgramRecord, group: Group) {
  const [groups, none] = [new Map([[group.number, group]]), new Map()]
  const discounts = await discountsByGroup(ctx, [group.number])
  const links = await partnerLinks(ctx, [row.id], linksShown)
  const rewards = await readRewards(ctx, [row])
  return present(row, { program, groups, discounts, totals: none, tags: none, links, rewards })
}

export async function presentPartner(ctx: Ctx, row: PartnerRow): Promise<Partner> {
  return (await presentPartners(ctx, [row]))[0] as Partner
}

function present(row: PartnerRow, { program, groups, discounts, totals, tags, links, rewards }: Facts): Partner {
  const own = rewards.get(row.number)
  return {
    id: row.id,
    name: row.name,
    username: row.username,
    email: row.email,
    image: row.image,
    description: row.description,
    country: row.country,
    companyName: row.company_name,
    networkStatus: 'draft',
    defaultPayoutMethod: null,
    paypalEmail: null,
    stripeConnectId: null,
    payoutsEnabledAt: null,
    identityVerifiedAt: null,
    programId: program.id,
    groupId: groups.get(row.group_number)?.id ?? null,
    partnerId: row.id,
    tenantId: row.tenant_id,
    createdAt: row.created_at.toISOString(),
    status: row.status,
    links: links.get(row.id) ?? [],
    clickRewardId: own?.click ?? null,
    leadRewardId: own?.lead ?? null,
    saleRewardId: own?.sale ?? null,
    referralRewardId: null,
    discountId: discounts.get(row.group_number)?.id ?? null,
    applicationId: row.application_id,
    bannedAt: row.banned_at?.toISOString() ?? null,
    bannedReason: row.banned_reason as Partner['bannedReason'],
    referralFormData: null,
    application: presentReview(row),
    tags: tags.get(row.number) ?? [],
    ...presentTotals(totals.get(row.number) ?? noTotals),
    website: row.website,
    youtube: row.youtube,
    twitter: row.twitter,
    linkedin: row.linkedin,
    instagram: row.instagram,
    tiktok: row.tiktok,
    trustedAt: null,
  }
}

function readRewards({ db, workspaceId }: Ctx, rows: PartnerRow[]): Promise<Facts['rewards']> {
  const partners = rows.map(({ number, group_number }) => ({ number, groupNumber: group_number }))
  return currentRewards(db, workspaceId, partners)
}

const noTotals: Totals = { clicks: 0n, leads: 0n, conversions: 0n, sales: 0n, sale_amount: 0n, commissions: 0n }

function presentReview(row: PartnerRow): Partner['application'] {
  if (row.application_id === null) return null
  const { rejection_reason, rejection_note, reviewed_at } = row
  const rejectionReason = rejection_reason as NonNullable<Partner['application']>['rejectionReason']
  return { rejectionReason, rejectionNote: rejection_note, reviewedAt: reviewed_at?.toISOString() ?? null }
}

function presentTotals({ clicks, leads, conversions, sales, sale_amount: amount, commissions }: Totals) {
  return {
    totalClicks: Number(clicks),
    totalLeads: Number(leads),
    totalConversions: Number(conversions),
    totalSales: Number(sales),
    totalSaleAmount: boundedSum(amount),
    totalCommissions: boundedSum(commissions),
    netRevenue: boundedSum(amount - commissions),
    earningsPerClick: divide(amount, clicks),
    averageLifetimeValue: divide(amount, conversions),
    clickToLeadRate: divide(leads, clicks),
    clickToConversionRate: divide(conversions, clicks),
    leadToConversionRate: divide(conversions, leads),
    returnOnAdSpend: divide(amount, commissions),
  }
}

function divide(dividend: bigint, divisor: bigint): number | null {
  return divisor === 0n ? null : Number(dividend) / Number(divisor)
}
