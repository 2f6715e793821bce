import type { MoveRule } from '@tributary/contract/groups'

export type MovingPartner = {
  groupId: string
  isPinned: boolean
  totals: { leads: bigint; conversions: bigint; saleAmount: bigint; commissions: bigint }
}
export type MoveTarget = { id: string; moveRules: MoveRule[] }

/** The totals of rules, the one that decides between groups first. */
const attributes = ['totalCommissions', 'totalSaleAmount', 'totalConversions', 'totalLeads'] as const

/**
 * The group that a partner moves to by its totals, or null when it stays. A group without rules attracts nobody. If
 * several groups match, also the partner's own, the most demanding one wins, so that a partner never moves to and fro
 * while its totals are the same; of equal ones, the first.
 */
export function findMove(partner: MovingPartner, groups: MoveTarget[]): string | null {
  if (partner.isPinned) return null
  const matching = groups.filter(
    ({ moveRules }) => moveRules.length > 0 && moveRules.every((rule) => meets(partner, rule)),
  )
  const target = matching.reduce<MoveTarget | undefined>(
    (best, group) => (best && !isMoreDemanding(group, best) ? best : group),
    undefined,
  )
  return target === undefined || target.id === partner.groupId ? null : target.id
}

function meets({ groupId, totals }: MovingPartner, rule: MoveRule): boolean {
  if (rule.attribute === 'groupId') return rule.value.includes(groupId) === (rule.operator === 'in')
  const total = {
    totalLeads: totals.leads,
    totalConversions: totals.conversions,
    totalSaleAmount: totals.saleAmount,
    totalCommissions: totals.commissions,
  }[rule.attribute]
  if (rule.operator === 'gte') return total >= BigInt(rule.value)
  return total >= BigInt(rule.value.min) && total <= BigInt(rule.value.max)
}

function isMoreDemanding(one: MoveTarget, other: MoveTarget): boolean {
  for (const attribute of attributes) {
    const [least, otherLeast] = [findLeast(one, attribute), findLeast(other, attribute)]
    if (least !== otherLeast) return least > otherLeast
  }
  return false
}

/** The smallest total that the group's rules allow; -1 without a rule on it. */
function findLeast({ moveRules }: MoveTarget, attribute: (typeof attributes)[number]): number {
  return moveRules.reduce((least, rule) => {
    if (rule.attribute !== attribute) return least
    return Math.max(least, rule.operator === 'gte' ? rule.value : rule.value.min)
  }, -1)
}
