import type { Event, Journey, Outcome, Played, PlayedPhase, Program, Step, Wait } from './journey.ts'
import { applyMoney, mature } from './journey-corrections.ts'
import { bindingAt, decideQueued, refundedPart } from './journey-decide.ts'
import { editProgram } from './journey-edits.ts'
import { exchange } from './journey-money.ts'
import { begin, type ModelCustomer, type ModelEvent, type State, sumEarnings } from './journey-state.ts'
import { laterBy, modelVersion, pairEnd } from './model.ts'

/** Plays a program in the plain model: what each phase does, and what must be true of each journey at the end. */
export function playProgram(program: Program): { phases: PlayedPhase[]; outcomes: Outcome[] } {
  const states = program.journeys.map((journey) => begin(program, journey))
  let at = new Date(program.startsAt)
  const played: PlayedPhase[] = []
  for (const [each, state] of states.entries()) open(state, program.journeys[each] as Journey)
  at = new Date(at.getTime() + 1)
  const leads = playAll(states, at, (each) => firstLead(program.journeys[each] as Journey))
  played.push({ at, steps: leads, isMatured: false, isDecided: program.pattern === 'each' })
  if (program.pattern === 'each') for (const state of states) decideQueued(state)
  for (const [index, phase] of program.phases.entries()) {
    at = waitFor(states, at, phase.wait)
    const steps = playAll(states, at, (each) => program.journeys[each]?.steps[index])
    const isLast = index === program.phases.length - 1
    const isDecided = phase.isDecided || program.pattern === 'each' || isLast
    if (phase.isMatured) for (const state of states) mature(state)
    if (isDecided) for (const state of states) decideQueued(state)
    played.push({ at, steps, isMatured: phase.isMatured, isDecided })
  }
  return { phases: played, outcomes: states.map(describeOutcome) }
}

/** Terms exist before anything else happens. */
function open(state: State, { opening }: Journey): void {
  for (const { owner, terms } of opening) editProgram(state, { kind: 'reward', owner, terms, applyTo: 'newCustomers' })
}

function firstLead({ customers }: Journey): Step | undefined {
  const customer = customers.findIndex(({ trackedBy, isLead }) => trackedBy !== null && isLead)
  return customer < 0 ? undefined : { kind: 'lead', partner: 0, customer, quantity: 1, metadata: null }
}

function playAll(states: State[], at: Date, find: (journey: number) => Step | undefined): (Played | null)[] {
  return states.map((state, index) => {
    state.now = at
    const step = find(index)
    return step ? playStep(state, step) : null
  })
}

function playStep(state: State, step: Step): Played | null {
  switch (step.kind) {
    case 'sale':
    case 'lead':
    case 'refund':
      return recordEvent(state, step)
    case 'reward':
    case 'endReward':
    case 'move':
    case 'holding':
    case 'status':
      return editProgram(state, step)
    case 'custom':
    case 'patch':
    case 'freeze':
      return applyMoney(state, step)
    case 'nothing':
      return null
  }
}

function recordEvent(state: State, step: Event): Played | null {
  if (step.kind === 'refund') return recordRefund(state, step)
  const index = step.customer % state.customers.length
  const customer = state.customers[index] as ModelCustomer
  const partner = customer.trackedBy ?? step.partner % state.partners.length
  // A link of a banned or deactivated partner takes no clicks.
  const isDisabled = ['banned', 'deactivated'].includes(state.partners[partner]?.status ?? '')
  if (customer.trackedBy !== null && isDisabled && (step.kind === 'lead' || !customer.hasLead)) return null
  const base = {
    at: state.now,
    partner,
    customer: index,
    sale: -1,
    isFull: false,
    before: 0n,
    after: 0n,
    reason: undefined,
  }
  const add = (given: Pick<ModelEvent, 'kind' | 'quantity' | 'metadata' | 'amount' | 'original' | 'isFirst'>) =>
    state.events.push({ number: state.events.length, ...base, ...given })
  const lead = { kind: 'lead' as const, quantity: 1, metadata: null, amount: 0n, original: 0n, isFirst: false }
  if (step.kind === 'lead') {
    // Only tracked leads have a quantity.
    const quantity = customer.trackedBy === null ? 1 : step.quantity
    add({ ...lead, quantity, metadata: step.metadata })
    customer.hasLead = true
    return { ...step, quantity, partner, customer: index, isRefused: false }
  }
  if (!customer.hasLead) add(lead)
  customer.hasLead = true
  const original = BigInt(step.amount)
  const amount = exchange(original, step.currency, state.workspaceCurrency)
  const { metadata } = step
  add({ kind: 'sale', quantity: 1, metadata, amount, original, isFirst: customer.firstSaleAt === null })
  customer.firstSaleAt ??= state.now
  return { ...step, partner, customer: index, isRefused: false }
}

function recordRefund(state: State, step: Extract<Event, { kind: 'refund' }>): Played | null {
  const sales = state.events.filter(({ kind, original }) => kind === 'sale' && original > 0n)
  const sale = sales[step.sale % sales.length]
  if (!sale) return null
  const earlier = state.events.filter((event) => event.kind === 'refund' && event.sale === sale.number)
  const originalLeft = earlier.reduce((left, refund) => left - refund.original, sale.original)
  const left = earlier.reduce((left, refund) => left - refund.amount, sale.amount)
  if (originalLeft === 0n) return null
  const isFull = step.share === 1_000
  const wished = (originalLeft * BigInt(step.share)) / 1_000n
  const original = wished === 0n ? 1n : wished
  const amount = refundedPart(sale, left, original, original === originalLeft)
  state.events.push({
    number: state.events.length,
    kind: 'refund',
    at: state.now,
    partner: sale.partner,
    customer: sale.customer,
    quantity: 1,
    metadata: null,
    amount,
    original,
    isFirst: false,
    sale: sale.number,
    isFull: original === originalLeft,
    before: left,
    after: left - amount,
    reason: undefined,
  })
  return { kind: 'refund', sale: sale.number, amount: isFull ? null : Number(original), isRefused: false }
}

/** The time of the next phase: always later than the last one. */
function waitFor(states: State[], now: Date, wait: Wait): Date {
  const soonest = new Date(now.getTime() + 1)
  if ('months' in wait) {
    return new Date(laterBy(soonest, wait.months).getTime() + wait.days * 24 * 3_600_000 + wait.ms)
  }
  const times = states.flatMap(wait.to === 'due' ? dueTimes : windowEnds)
  const next = times.filter((time) => time > now.getTime() + 1).sort((one, other) => one - other)[0]
  return next === undefined ? soonest : new Date(next + wait.offsetMs)
}

function dueTimes(state: State): number[] {
  return state.commissions.flatMap(({ status, dueAt }) => (status === 'pending' ? dueAt.getTime() : []))
}

function windowEnds(state: State): number[] {
  return state.bindings.flatMap((each) => {
    const version = modelVersion(bindingAt(state, each, state.now), { partner: null, group: null }, state.now)
    const end = version && pairEnd(version.terms, each.firstSaleAt)
    return end === null ? [] : Date.parse(end)
  })
}

function describeOutcome(state: State): Outcome {
  const commissions = state.commissions.map((each) => {
    const { key, partner, type, status, amount, earnings, dueAt, version, payout } = each
    const isInOpenPayout = payout?.isOpen ?? false
    const name = version && `${version.rewardNumber}.${version.version}`
    return [
      key,
      { partner, type, status, amount, earnings, dueAt: dueAt.toISOString(), version: name, isInOpenPayout },
    ] as const
  })
  const partners = state.partners.map(({ group, totals }, index) => {
    const mine = state.commissions.filter(({ partner }) => partner === index)
    const open = mine.filter(({ payout }) => payout?.isOpen)
    return {
      group,
      totals: { ...totals, commissions: sumEarnings(mine, ['pending', 'processed', 'paid']) },
      accrued: sumEarnings(mine, ['pending']),
      // Money that was sent stays due, because these journeys send none.
      due: sumEarnings(mine, ['processed', 'paid']),
      openPayout: sumEarnings(open, ['processed']),
    }
  })
  return {
    commissions: Object.fromEntries(commissions),
    reasons: state.events.map(({ reason }) => reason ?? null),
    partners,
    expense: sumEarnings(state.commissions, ['pending', 'processed', 'paid']),
  }
}
