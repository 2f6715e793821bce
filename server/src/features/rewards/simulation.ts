import { capKey } from './cap.ts'
import { decide, governingVersion } from './decide.ts'
import { earningsAfterRefund } from './refund.ts'
import type { Binding, Choice, RewardEvent, RewardVersion, Totals } from './terms.ts'
import { lastWindowEnd } from './window.ts'

export type SimulatedPartner = {
  number: bigint
  groupNumber: bigint
  status: string
  country: string | null
  email: string | null
  holdingPeriodDays: number
  /** Totals before the period. */
  totals: Totals
  current: Choice
  proposed: Choice
}
export type SimulatedSale = Pick<
  RewardEvent,
  'amount' | 'originalAmount' | 'currency' | 'at' | 'metadata' | 'isFirst'
> & {
  partnerNumber: bigint
  customer: NonNullable<RewardEvent['customer']>
  /** The amount after refunds. */
  amountLeft: bigint
  /** The first sale of the customer through the partner, which may be before the period. */
  firstSaleAt: Date
}
export type SimulatedEarnings = { sales: number; saleAmount: bigint; current: bigint; proposed: bigint }

type Scenario = {
  name: 'current' | 'proposed'
  bindings: Map<string, Binding>
  spent: Map<string, bigint>
  commissions: Map<bigint, bigint>
}

/**
 * What partners would have earned for sales, added in order, under their current and under the proposed terms: each as
 * if they had always applied. Customers with an earlier sale are bound to the same terms from that sale on.
 */
export function openSimulation(partners: SimulatedPartner[], start: Date) {
  const scenarios = (['current', 'proposed'] as const).map((name): Scenario => {
    return { name, bindings: new Map(), spent: new Map(), commissions: new Map() }
  })
  const earnings = new Map<bigint, SimulatedEarnings>()
  const known = new Map(partners.map((partner) => [partner.number, { ...partner, totals: { ...partner.totals } }]))
  return {
    earnings,
    add(sale: SimulatedSale): void {
      const partner = known.get(sale.partnerNumber)
      if (!partner) return
      const sum = earnings.get(partner.number) ?? { sales: 0, saleAmount: 0n, current: 0n, proposed: 0n }
      earnings.set(partner.number, sum)
      for (const scenario of scenarios) sum[scenario.name] += earn(scenario, partner, sale, start)
      sum.sales += 1
      sum.saleAmount += sale.amount
      partner.totals.conversions += sale.isFirst ? 1n : 0n
      partner.totals.saleAmount += sale.amount
    },
  }
}

function earn(scenario: Scenario, partner: SimulatedPartner, sale: SimulatedSale, start: Date): bigint {
  const { partnerNumber, customer } = sale
  const choice = partner[scenario.name]
  const pair = `${partnerNumber} ${customer.id}`
  const commissions = scenario.commissions.get(partnerNumber) ?? 0n
  const totals = { ...partner.totals, commissions }
  const event: RewardEvent = { ...sale, kind: 'sale', quantity: 1, partner: { ...partner, totals } }
  const binding = scenario.bindings.get(pair) ?? bindEarlier(choice, sale, start)
  const version = governingVersion(event, binding, choice)
  const spending = version && formatKey(version, event, partner)
  const spent = (spending && scenario.spent.get(spending)) || 0n
  const decision = decide(event, { binding, isVoid: false, hasLeadCommission: false, spent }, choice)
  if ('reason' in decision) return 0n
  if (decision.binds) scenario.bindings.set(pair, { version: decision.version, later: [], ...decision.binds })
  if (spending) scenario.spent.set(spending, spent + decision.earnings)
  const left = earningsAfterRefund(decision.why, sale.amountLeft)
  scenario.commissions.set(partnerNumber, commissions + left)
  return left
}

/** Binds a customer whose first sale was before the period. */
function bindEarlier(choice: Choice, { firstSaleAt }: SimulatedSale, start: Date): Binding | null {
  const version = choice.partner ?? choice.group
  if (!version || firstSaleAt >= start) return null
  return { version, later: [], firstSaleAt, endsAt: lastWindowEnd(version.terms, firstSaleAt) }
}

function formatKey(version: RewardVersion, event: RewardEvent, partner: SimulatedPartner): string | null {
  const customerId = event.customer?.id ?? null
  const key = capKey(version, event, { partnerNumber: partner.number, groupNumber: partner.groupNumber, customerId })
  return key && `${version.rewardNumber} ${key.scope} ${key.periodStart.toISOString()}`
}
