import { createClient } from '@tributary/contract/client'
import type { NewReward } from '@tributary/contract/rewards'
import { type BuiltWorkspace, browser } from '../../server/test/build.ts'
import { visit } from '../../server/test/visit.ts'

/** Terms of a group, and the plain formula that says what a sale earns when `left` of its amount is left. */
type Terms = {
  name: string
  reward: Omit<NewReward, 'event' | 'groupId'>
  earnings(sale: { amount: number; left: number }): number
  /** Most that one partner, or the whole group, earns. Sales under a limit are not refunded here. */
  limit?: { amount: number; scope: 'partner' | 'group' }
  holdingPeriodDays: 0 | 30
}
export type Seller = { partnerId: string; terms: Terms; linkKey: string; customers: string[] }

export const leadEarnings = 100
const [partnersPerGroup, customersPerPartner] = [4, 10]

/** A share in hundredths of a percent, with halves rounded up. */
function percent(amount: number, hundredths: number): number {
  return Number((BigInt(amount) * BigInt(hundredths) * 2n + 10_000n) / 20_000n)
}

const groups: Terms[] = [
  {
    name: 'percentage',
    reward: { type: 'percentage', amountInPercentage: 10 },
    earnings: ({ left }) => percent(left, 1_000),
    holdingPeriodDays: 30,
  },
  {
    name: 'flat',
    reward: { type: 'flat', amountInCents: 250 },
    earnings: ({ left }) => (left === 0 ? 0 : 250),
    holdingPeriodDays: 0,
  },
  {
    name: 'tiers',
    reward: {
      type: 'percentage',
      amountInPercentage: 5,
      modifiers: [
        {
          operator: 'AND',
          conditions: [{ entity: 'sale', attribute: 'amount', operator: 'greater_than_or_equal', value: 5_000 }],
          type: 'percentage',
          amountInPercentage: 12.5,
        },
      ],
    },
    earnings: ({ amount, left }) => percent(left, amount >= 5_000 ? 1_250 : 500),
    holdingPeriodDays: 0,
  },
  {
    name: 'limited-partners',
    reward: { type: 'percentage', amountInPercentage: 20 },
    earnings: ({ amount }) => percent(amount, 2_000),
    limit: { amount: 40_000, scope: 'partner' },
    holdingPeriodDays: 0,
  },
  {
    name: 'limited-group',
    reward: { type: 'percentage', amountInPercentage: 15 },
    earnings: ({ amount }) => percent(amount, 1_500),
    limit: { amount: 200_000, scope: 'group' },
    holdingPeriodDays: 0,
  },
]

/** Creates a program with groups, rewards, limits, partners and links, and customers that clicked and signed up. */
export async function buildSellers(
  { api, redirect }: { api: string; redirect: string },
  workspace: BuiltWorkspace,
): Promise<Seller[]> {
  const call = createClient({ url: api, token: workspace.key })
  await call('createProgram', { body: { name: 'Friends', domain: workspace.domain, url: 'https://example.com' } })
  const sellers: Seller[] = []
  for (const terms of groups) {
    const { name, reward, limit, holdingPeriodDays } = terms
    const { id: groupId } = await call('createPartnerGroup', { body: { name, slug: name, holdingPeriodDays } })
    const spendLimit = limit && {
      spendLimitAmount: limit.amount,
      spendLimitInterval: 'allTime' as const,
      spendLimitScope: limit.scope,
    }
    await call('createReward', { body: { groupId, event: 'sale', ...reward, ...spendLimit } })
    await call('createReward', { body: { groupId, event: 'lead', type: 'flat', amountInCents: leadEarnings } })
    for (let number = 0; number < partnersPerGroup; number++) {
      const partnerName = `${name}-${number}`
      const { id: partnerId } = await call('createPartner', {
        body: { email: `${partnerName}@example.com`, name: partnerName, groupId },
      })
      const { key: linkKey } = await call('createPartnerLink', { body: { partnerId, key: `${partnerName}-link` } })
      const customers = Array.from({ length: customersPerPartner }, (_, index) => `${partnerName}-${index}`)
      sellers.push({ partnerId, terms, linkKey, customers })
    }
  }
  let visitor = 0
  for (const { linkKey, customers } of sellers) {
    await Promise.all(
      customers.map(async (customerExternalId) => {
        const headers = { host: workspace.domain, 'user-agent': `${browser} ${++visitor}` }
        const { headers: answered } = await visit(`${redirect}/${linkKey}`, headers)
        const clickId = new URL(answered.location ?? '').searchParams.get('trib_id') ?? ''
        await call('trackLead', { body: { clickId, eventName: 'Sign up', customerExternalId } })
      }),
    )
  }
  return sellers
}
