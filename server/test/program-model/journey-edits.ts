import type { Edit, Owner, Played, StatusChange } from './journey.ts'
import { type ModelPartner, readTerms, type State } from './journey-state.ts'

/** Changes the program, as its owner does: terms, groups and the status of partners. */
export function editProgram(state: State, step: Edit): Played | null {
  switch (step.kind) {
    case 'reward':
      return setReward(state, step)
    case 'endReward': {
      const owner = resolveOwner(state, step.owner)
      const reward = findReward(state, owner, step.event)
      if (!reward) return null
      reward.endedAt = state.now
      return { ...step, owner, isRefused: false }
    }
    case 'move': {
      const [partner, group] = [step.partner % state.partners.length, step.group % state.groups.length]
      const moved = state.partners[partner] as ModelPartner
      moved.group = group
      return { ...step, partner, group, isRefused: false }
    }
    case 'holding': {
      const group = step.group % state.groups.length
      const changed = state.groups[group] as State['groups'][number]
      changed.delayDays = step.days
      return { ...step, group, isRefused: false }
    }
    case 'status': {
      const partner = step.partner % state.partners.length
      return { ...step, partner, isRefused: !changeStatus(state, partner, step.change) }
    }
  }
}

/** Makes a reward, or a further version of the one that the owner has. */
function setReward(state: State, step: Extract<Edit, { kind: 'reward' }>): Played {
  const owner = resolveOwner(state, step.owner)
  const event = step.terms.event as 'lead' | 'sale'
  const known = findReward(state, owner, event)
  const reward = known ?? { owner, event, versions: [], endedAt: null }
  if (!known) state.rewards.push(reward)
  const rewardNumber = state.rewards.indexOf(reward)
  reward.versions.push({
    number: BigInt(rewardNumber * 1_000 + reward.versions.length),
    rewardNumber: BigInt(rewardNumber),
    rewardId: '',
    version: reward.versions.length + 1,
    terms: readTerms(step.terms),
    appliesToAll: known !== undefined && step.applyTo === 'allFutureSales',
    createdAt: state.now,
  })
  return { ...step, owner, isRefused: false }
}

function findReward(state: State, owner: Owner, event: string) {
  const isSame = (other: Owner) => JSON.stringify(other) === JSON.stringify(owner)
  return state.rewards.find((reward) => reward.endedAt === null && reward.event === event && isSame(reward.owner))
}

function resolveOwner(state: State, owner: Owner): Owner {
  if ('group' in owner) return { group: owner.group % state.groups.length }
  return { partner: owner.partner % state.partners.length }
}

const allowed: Record<StatusChange, { from: ModelPartner['status'][]; to: ModelPartner['status'] }> = {
  ban: { from: ['approved', 'deactivated', 'archived'], to: 'banned' },
  unban: { from: ['banned'], to: 'approved' },
  restore: { from: ['banned'], to: 'approved' },
  deactivate: { from: ['approved', 'archived'], to: 'deactivated' },
  reactivate: { from: ['deactivated'], to: 'approved' },
  archive: { from: ['approved'], to: 'archived' },
  unarchive: { from: ['archived'], to: 'approved' },
}

/** A ban cancels what is neither paid nor under way, and closes the open payout. False when refused. */
function changeStatus(state: State, index: number, change: StatusChange): boolean {
  const partner = state.partners[index] as ModelPartner
  if (!allowed[change].from.includes(partner.status)) return false
  partner.status = allowed[change].to
  for (const commission of state.commissions) {
    if (commission.partner !== index) continue
    const isOpen = commission.status === 'pending' || (commission.status === 'processed' && commission.payout?.isOpen)
    if (change === 'ban' && isOpen) {
      commission.status = 'canceled'
      commission.isCanceledByBan = true
      commission.payout = null
    }
    if (change === 'restore' && commission.isCanceledByBan) {
      // A sale that was fully refunded meanwhile has nothing left to pay.
      commission.status = commission.earnings === 0n ? 'refunded' : 'pending'
      commission.isCanceledByBan = false
    }
  }
  if (change === 'ban') for (const payout of state.payouts) if (payout.partner === index) payout.isOpen = false
  return true
}
