import { isDeepStrictEqual } from 'node:util'
import { createClient } from '@tributary/contract/client'
import { createCommission } from '@tributary/contract/commissions'
import { createDiscount } from '@tributary/contract/discounts'
import { createGroup, listGroups, updateGroup } from '@tributary/contract/groups'
import { applyToProgram } from '@tributary/contract/partner-applications'
import { createPartnerTag } from '@tributary/contract/partner-tags'
import { createPartner, listPartners, type Partner, updatePartner } from '@tributary/contract/partners'
import { createProgram, listPrograms } from '@tributary/contract/programs'
import { newReward } from '@tributary/contract/rewards'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { clickKeys } from '../server/src/features/click-ids/service.ts'
import { runMaturing } from '../server/src/features/commissions/mature.ts'
import { linkNumbers } from '../server/src/features/links/service.ts'
import type { RawClick } from '../server/src/features/redirect/messages.ts'
import { createReward } from '../server/src/features/rewards/manage.ts'
import { trackLead } from '../server/src/features/track/leads.ts'
import { trackRefund } from '../server/src/features/track/refunds.ts'
import { trackSale } from '../server/src/features/track/sales.ts'
import type { Ctx, Platform } from '../server/src/platform/context.ts'
import { contextIn } from '../server/test/context.ts'
import { demoGroups, demoPartners, type SampleCustomer } from './partners.ts'
import { pastClicks, sendToLog } from './visitors.ts'

type Workspace = { id: string; key: string }
type Call = ReturnType<typeof createClient>
type Step = { daysAgo: number; run(ctx: Ctx): Promise<unknown> }

const url = 'https://www.example.com/'
const days = 30
const dayMs = 86_400_000
const hourMs = 3_600_000
const pollMs = 100
const stalledMs = 60_000

/**
 * Creates the sample partner program, with clicks, leads, sales and commissions of the last 30 days, unless the workspace
 * has a program. Returns once all of it is counted and what is due is in payouts.
 */
export async function fillProgram(platform: Platform, workspace: Workspace, domain: string): Promise<void> {
  const call = createClient({ url: platform.config.API_URL, token: workspace.key })
  if ((await call(listPrograms)).length > 0) return
  const { id: programId } = await call(createProgram, { body: { name: 'Example partners', domain, url } })
  // An event earns by the terms of its time, so the rewards are as old as the first event.
  const past = { ...contextIn(platform, workspace.id), now: () => new Date(Date.now() - (days + 1) * dayMs) }
  const groups = await createGroups(call, past)
  const partners = await createPartners(call, groups)
  const requireId = (username: string) => partners.get(username)?.id as string
  const ownReward = { event: 'sale', type: 'percentage', amountInPercentage: 25, maxDuration: 12 } as const
  await createReward(past, newReward.parse({ partnerId: requireId('yuki'), ...ownReward }))
  await recordHistory(contextIn(platform, workspace.id), call, partners)
  const yesterday = { type: 'custom' as const, date: new Date(Date.now() - dayMs).toISOString() }
  const clawback = { ...yesterday, amount: -500, description: 'duplicate_commission' }
  await call(createCommission, { body: { ...clawback, partnerId: requireId('mateo') } })
  const bonus = { ...yesterday, amount: 5_000, description: 'Launch bonus' }
  await call(createCommission, { body: { ...bonus, partnerId: requireId('north') } })
  await call(applyToProgram, {
    body: {
      programId,
      email: 'ines@moreau.example',
      name: 'Inès Moreau',
      country: 'FR',
      website: 'https://moreau.example',
      answers: [{ label: 'How will you promote us?', value: 'A weekly video about tools for small shops.' }],
    },
  })
  const sampleCustomers = demoPartners.flatMap(({ customers }) => customers)
  const sales = sampleCustomers.flatMap((customer) => customer.sales ?? [])
  const saleAmount = sum(sales.map(({ amount, refunded = 0 }) => amount - refunded))
  await waitUntilCounted(call, { clicks: countClicks(), leads: sampleCustomers.length, saleAmount })
  await runMaturing(platform, new Date(), { workspaceIds: [workspace.id] })
}

async function createGroups(call: Call, past: Ctx): Promise<Map<string, string>> {
  const [first] = await call(listGroups)
  const groups = new Map<string, string>()
  for (const [slug, { name, holdingPeriodDays, rewards }] of Object.entries(demoGroups)) {
    const body = { name, holdingPeriodDays }
    const { id } =
      slug === 'creators'
        ? await call(updateGroup, { params: { id: first?.id as string }, body })
        : await call(createGroup, { body: { ...body, slug } })
    for (const reward of rewards) await createReward(past, newReward.parse({ groupId: id, ...reward }))
    groups.set(slug, id)
  }
  // Each partner of the group gets a code.
  const discount = { type: 'percentage' as const, amount: 10, maxDuration: 3 }
  await call(createDiscount, { body: { groupId: groups.get('creators') as string, ...discount } })
  return groups
}

async function createPartners(call: Call, groups: Map<string, string>): Promise<Map<string, Partner>> {
  const names = [...new Set(demoPartners.map(({ tag }) => tag))]
  const tags = new Map(
    await Promise.all(
      names.map(async (name) => [name, (await call(createPartnerTag, { body: { name } })).id] as const),
    ),
  )
  const made = demoPartners.map(async ({ group, tag, clicks, customers, ...profile }) => {
    const partner = await call(createPartner, { body: { ...profile, groupId: groups.get(group) } })
    await call(updatePartner, { params: { id: partner.id }, body: { tagIds: [tags.get(tag) as string] } })
    return [profile.username, partner] as const
  })
  return new Map(await Promise.all(made))
}

/** Sends clicks on the links of partners, then records the leads, sales and refunds of each partner, oldest first. */
async function recordHistory(ctx: Ctx, call: Call, partners: Map<string, Partner>): Promise<void> {
  const now = Date.now()
  const clicks: RawClick[] = []
  const histories: Step[][] = []
  for (const { username, clicks: count, customers } of demoPartners) {
    const [number] = await linkNumbers(ctx, { ids: [partners.get(username)?.links?.[0]?.id as string] })
    const target = { number: number as bigint, workspaceId: ctx.workspaceId, url }
    const span = { count, first: clicks.length, from: now - days * dayMs, to: now - hourMs }
    const own = pastClicks(clickKeys(ctx.config), [target], span)
    clicks.push(...own)
    const steps = customers.flatMap((customer, index) => {
      const click = own.findLast(({ at }) => at < now - customer.lead * dayMs) as RawClick
      return customerSteps(`${username}-${index + 1}`, click.id, customer)
    })
    histories.push(steps.sort((one, other) => other.daysAgo - one.daysAgo))
  }
  clicks.sort((one, other) => one.at - other.at)
  await sendToLog(ctx, ctx.workspaceId, clicks)
  // A lead of a click that is not stored yet is counted later, in steps that grow.
  await waitUntilCounted(call, { clicks: countClicks(), leads: 0, saleAmount: 0 })
  const recorded = histories.map(async (steps) => {
    for (const { daysAgo, run } of steps) await run({ ...ctx, now: () => new Date(now - daysAgo * dayMs) })
  })
  await Promise.all(recorded)
}

function customerSteps(name: string, clickId: string, { lead, sales = [] }: SampleCustomer): Step[] {
  const customerExternalId = `demo-${name}`
  const signUp = newLead.parse({ clickId, eventName: 'Sign up', customerExternalId, customerName: `Customer ${name}` })
  const payments = sales.flatMap(({ daysAgo, amount, productId, refunded }, index): Step[] => {
    const invoiceId = `${customerExternalId}-${index + 1}`
    const metadata = productId ? { productId } : undefined
    const sale = newSale.parse({ customerExternalId, amount, invoiceId, metadata })
    const refund = newRefund.parse({ invoiceId, amount: refunded })
    return [
      { daysAgo: daysAgo - 1 / 24, run: (ctx) => trackSale(ctx, sale) },
      ...(refunded ? [{ daysAgo: 2, run: (ctx: Ctx) => trackRefund(ctx, refund) }] : []),
    ]
  })
  return [{ daysAgo: lead, run: (ctx) => trackLead(ctx, signUp) }, ...payments]
}

function countClicks(): number {
  return sum(demoPartners.map(({ clicks }) => clicks))
}

type Counts = { clicks: number; leads: number; saleAmount: number }

/** Waits until these events are counted, both for links and for partners, which then have their commissions. */
async function waitUntilCounted(call: Call, expected: Counts): Promise<void> {
  let known = ''
  for (let changedAt = performance.now(); ; ) {
    const partners = await call(listPartners)
    const links = partners.flatMap((partner) => partner.links ?? [])
    const counts = [
      {
        clicks: sum(partners.map(({ totalClicks }) => totalClicks)),
        leads: sum(partners.map(({ totalLeads }) => totalLeads)),
        saleAmount: sum(partners.map(({ totalSaleAmount }) => totalSaleAmount)),
      },
      {
        clicks: sum(links.map((link) => link.clicks)),
        leads: sum(links.map((link) => link.leads)),
        saleAmount: sum(links.map((link) => link.saleAmount)),
      },
    ]
    if (counts.every((count) => isDeepStrictEqual(count, expected))) return
    if (JSON.stringify(counts) !== known) changedAt = performance.now()
    known = JSON.stringify(counts)
    if (performance.now() - changedAt > stalledMs) {
      throw new Error(
        `The sample partners have ${known} instead of ${JSON.stringify(expected)}, and no more for ${stalledMs / 1000} s. See the server log.`,
      )
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
