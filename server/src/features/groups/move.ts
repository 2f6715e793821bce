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
 * several groups match, the most demanding one wins; of equal ones the partner's own, else the first. Further moves
 * that the new group would allow are part of this one, so that equal totals never move a partner twice.
 */
export function findMove(partner: MovingPartner, groups: MoveTarget[]): string | null {
  if (partner.isPinned) return null
  // After the first step, each step leads to a more demanding group, so that the steps end.
  for (let groupId = partner.groupId; ; ) {
    const next = findNext({ ...partner, groupId }, groups)
    if (next === groupId) return groupId === partner.groupId ? null : groupId
    groupId = next
  }
}

function findNext(partner: MovingPartner, groups: MoveTarget[]): string {
  const present = groups.find(({ id }) => id === partner.groupId)
  const matching = groups.filter(
    (group) => group.moveRules.length > 0 && group.moveRules.every((rule) => meets(partner, rule)),
  )
  const best = matching.reduce<MoveTarget | undefined>(
    (best, group) => (best && !isMoreDemanding(group, best) ? best : group),
    present && meetsTotals(partner, present) ? present : undefined,
  )
  return best?.id ?? partner.groupId
}

/** Whether the totals still meet the rules of the present group. Its rules on groups say who may join, not who stays. */
function meetsTotals(partner: MovingPartner, { moveRules }: MoveTarget): boolean {
  const ofTotals = moveRules.filter(({ attribute }) => attribute !== 'groupId')
  return moveRules.length > 0 && ofTotals.every((rule) => meets(partner, rule))
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
