import { type ModelPartner, type State, sumEarnings } from './journey-state.ts'

/** Moves a partner to the group whose rules its totals meet; the most demanding one wins. */
export function moveByRules(state: State, index: number): void {
  const partner = state.partners[index] as ModelPartner
  const mine = state.commissions.filter((each) => each.partner === index)
  const totals = {
    totalCommissions: sumEarnings(mine, ['pending', 'processed', 'paid']),
    totalSaleAmount: partner.totals.saleAmount,
    totalConversions: partner.totals.conversions,
    totalLeads: partner.totals.leads,
  }
  const names = ['totalCommissions', 'totalSaleAmount', 'totalConversions', 'totalLeads'] as const
  const matching = state.groups.flatMap(({ moveRules }, group) => {
    const isMet = moveRules.every(({ attribute, min, max }) => {
      return totals[attribute] >= BigInt(min) && (max === undefined || totals[attribute] <= BigInt(max))
    })
    const demands = names.map((name) =>
      Math.max(-1, ...moveRules.flatMap((rule) => (rule.attribute === name ? rule.min : []))),
    )
    return moveRules.length > 0 && isMet ? [{ group, demands }] : []
  })
  // The partner's own group wins over equally demanding ones.
  let best = matching.find(({ group }) => group === partner.group) ?? matching[0]
  for (const each of matching) {
    const at = names.findIndex((_, position) => each.demands[position] !== best?.demands[position])
    if (at >= 0 && (each.demands[at] as number) > (best?.demands[at] as number)) best = each
  }
  if (best) partner.group = best.group
}
