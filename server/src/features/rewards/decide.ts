import type { RewardCondition } from '@tributary/contract/reward-terms'
import { remainingCap } from './cap.ts'
import { type Actual, judgeCondition, readAttribute } from './conditions.ts'
import { commissionableAmount, type Line, lineEarnings, splitLines } from './earnings.ts'
import type { Binding, Choice, History, Modifier, RewardEvent, RewardVersion, Terms, Why } from './terms.ts'
import { isWindowOpen, lastWindowEnd, windowEnd } from './window.ts'

export type NoReward =
  | 'no_reward'
  | 'window_over'
  | 'capped'
  | 'not_enrolled'
  | 'self_referral'
  | 'zero'
  | 'voided'
  | 'duplicate_lead'

export type Decision =
  | {
      earnings: bigint
      version: RewardVersion
      /** Set for the first sale commission of a customer, which binds it to the version. */
      binds: { firstSaleAt: Date; endsAt: Date | null } | null
      dueAt: Date
      /** How much of the earnings the cap took. */
      capped: bigint
      why: Why
    }
  | { reason: NoReward; why: Why }

/** Statuses of partners whose leads and sales earn. */
export const earningStatuses = ['approved', 'invited', 'archived']
const dayMs = 86_400_000

/** What an event earns, or why nothing. `why` has everything that is needed to compute the earnings again. */
export function decide(event: RewardEvent, history: History, choice: Choice): Decision {
  const why = describeEvent(event)
  const binding = event.kind === 'sale' ? history.binding : null
  if (!earningStatuses.includes(event.partner.status)) return { reason: 'not_enrolled', why }
  if (isSelfReferral(event)) return { reason: 'self_referral', why }
  if (history.isVoid) return { reason: 'voided', why }
  if (event.kind === 'lead' && history.hasLeadCommission) return { reason: 'duplicate_lead', why }
  const version = governingVersion(event, binding, choice)
  if (!version) return { reason: 'no_reward', why }

  const { terms } = version
  const firstSaleAt = binding?.firstSaleAt ?? event.at
  const endsAt = lastWindowEnd(terms, firstSaleAt)
  const parts = splitLines(event)
  const conditions = judgeConditions(event, terms, parts)
  const lines = hasCountryLines(event, terms) ? splitByCountry(event, terms, conditions) : parts
  const judged = lines.map((line) => judgeLine(event, terms, conditions, line, binding))
  const subtotal = judged.reduce((sum, { earnings }) => sum + earnings, 0n)
  const left = terms.cap && remainingCap(terms.cap, history.spent)
  const earnings = left !== null && left < subtotal ? left : subtotal
  const dueAt = new Date(event.at.getTime() + event.partner.holdingPeriodDays * dayMs)
  const reasoning: Why = {
    ...why,
    reward: { id: version.rewardId, version: version.version, origin: findOrigin(binding, choice) },
    conditions,
    lines: judged.map(({ earnings, ...line }) => ({ ...line, earnings: Number(earnings) })),
    window: event.kind === 'sale' ? { firstSaleAt: firstSaleAt.toISOString(), endsAt: formatTime(endsAt) } : null,
    cap:
      terms.cap && left !== null
        ? { ...terms.cap, amount: Number(terms.cap.amount), spent: Number(history.spent), left: Number(left) }
        : null,
  }
  if (judged.every(({ isOpen }) => !isOpen)) return { reason: 'window_over', why: reasoning }
  if (subtotal === 0n) return { reason: 'zero', why: reasoning }
  if (earnings === 0n) return { reason: 'capped', why: reasoning }
  const due = { holdingPeriodDays: event.partner.holdingPeriodDays, at: dueAt.toISOString() }
  return {
    earnings,
    version,
    binds: event.kind === 'sale' && !binding ? { firstSaleAt, endsAt } : null,
    dueAt,
    capped: subtotal - earnings,
    why: { ...reasoning, due, earnings: Number(earnings) },
  }
}

/** Whether the customer has the partner's e-mail address. */
function isSelfReferral({ customer, partner }: RewardEvent): boolean {
  const email = customer?.email?.trim().toLowerCase()
  return Boolean(email) && email === partner.email?.toLowerCase()
}

/**
 * The version that applies to an event. A customer keeps the version of its first sale; a later version that applies to
 * all replaces it for events after it was made, unless the customer's window had ended before.
 */
export function governingVersion(
  { kind, at }: Pick<RewardEvent, 'kind' | 'at'>,
  binding: Binding | null,
  choice: Choice,
): RewardVersion | null {
  if (kind !== 'sale' || !binding) return choice.partner ?? choice.group
  let { version, endsAt } = binding
  for (const later of binding.later) {
    if (later.createdAt > at || (endsAt !== null && endsAt <= later.createdAt)) break
    version = later
    endsAt = lastWindowEnd(later.terms, binding.firstSaleAt)
  }
  return version
}

type JudgedLine = Omit<Why['lines'][number], 'earnings'> & { earnings: bigint }

/** Chooses the terms with the highest earnings for a line; of equal ones, the first. */
function judgeLine(
  event: RewardEvent,
  terms: Terms,
  conditions: Why['conditions'],
  line: Line,
  binding: Binding | null,
): JudgedLine {
  const matching = findMatching(terms.modifiers, conditions, line)
  const candidates = matching.length > 0 ? matching : [null]
  const judged = candidates.map((modifier) => judgeCandidate(event, terms, line, binding, modifier))
  const best = judged.reduce((best, each) => (isBetter(each, best) ? each : best))
  return { ...best, matching }
}

function isBetter(one: JudgedLine, other: JudgedLine): boolean {
  if (one.isOpen !== other.isOpen) return one.isOpen
  return one.earnings > other.earnings
}

function judgeCandidate(
  event: RewardEvent,
  terms: Terms,
  line: Line,
  binding: Binding | null,
  modifier: number | null,
): JudgedLine {
  const rate = modifier === null ? terms : (terms.modifiers[modifier] as Modifier)
  const isOpen = !binding || isWindowOpen(rate, binding.firstSaleAt, event.at)
  const endsAt = event.kind === 'sale' ? windowEnd(rate, binding?.firstSaleAt ?? event.at) : null
  const sum = rate.type === 'flat' ? `${rate.amount} × ${line.quantity}` : `${line.amount} × ${rate.amount} / 10000`
  return {
    productId: line.productId,
    ...(line.countries && { countries: line.countries }),
    amount: Number(line.amount),
    quantity: line.quantity,
    matching: [],
    modifier,
    type: rate.type,
    rate: Number(rate.amount),
    maxDuration: rate.maxDuration,
    endsAt: formatTime(endsAt),
    isOpen,
    formula: isOpen ? sum : '0, because the window is over',
    earnings: isOpen ? lineEarnings(rate, line) : 0n,
  }
}

/** Whether clicks of different countries may earn differently. */
function hasCountryLines({ countries }: RewardEvent, { modifiers }: Terms): boolean {
  return countries !== undefined && modifiers.some(({ conditions }) => conditions.some(isOnCountry))
}

function isOnCountry({ entity, attribute }: Pick<RewardCondition, 'entity' | 'attribute'>): boolean {
  return entity === 'customer' && attribute === 'country'
}

/** Divides clicks into lines of the countries for which the same modifiers match. */
function splitByCountry(event: RewardEvent, { modifiers }: Terms, conditions: Why['conditions']): Line[] {
  const { amount, countries = [] } = event
  const matching = ({ country }: { country: string }) =>
    findMatching(modifiers, conditions, { productId: null, countries: [country] }).join()
  return [...Map.groupBy(countries, matching).values()].map((some) => ({
    productId: null,
    countries: some.map(({ country }) => country),
    amount,
    quantity: some.reduce((sum, { clicks }) => sum + clicks, 0),
  }))
}

/** The positions of modifiers whose conditions are true; those on a product or a country of clicks are judged for each line. */
function findMatching(
  modifiers: Modifier[],
  conditions: Why['conditions'],
  { productId, countries }: Pick<Line, 'productId' | 'countries'>,
): number[] {
  const results = modifiers.map((): boolean[] => [])
  for (const { modifier, result, actual: _, ...condition } of conditions) {
    const actual = isOnCountry(condition) ? countries?.[0]?.toUpperCase() : productId
    results[modifier]?.push(result ?? judgeCondition(condition, actual || undefined))
  }
  return modifiers.flatMap(({ operator }, index) => {
    const own = results[index] as boolean[]
    return (operator === 'AND' ? !own.includes(false) : own.includes(true)) ? [index] : []
  })
}

function judgeConditions(event: RewardEvent, { modifiers }: Terms, lines: Line[]): Why['conditions'] {
  return modifiers.flatMap(({ conditions }, modifier) =>
    conditions.map((condition) => {
      const isByLine =
        (condition.attribute === 'productId' && lines.length > 1) || (event.countries && isOnCountry(condition))
      const actual = isByLine ? undefined : readAttribute(event, condition, lines[0]?.productId ?? null)
      return {
        ...condition,
        modifier,
        actual: formatActual(actual),
        result: isByLine ? null : judgeCondition(condition, actual),
      }
    }),
  )
}

function describeEvent(event: RewardEvent): Why {
  const commissionable = event.kind === 'sale' ? commissionableAmount(event) : null
  return {
    event: {
      kind: event.kind,
      at: event.at.toISOString(),
      amount: Number(event.amount),
      originalAmount: Number(event.originalAmount),
      commissionableAmount: commissionable === null ? null : Number(commissionable),
      currency: event.currency,
      quantity: event.quantity,
      customerId: event.customer?.id ?? null,
      isFirst: event.isFirst,
      partnerStatus: event.partner.status,
    },
    reward: null,
    conditions: [],
    lines: [],
    rounding: 'half_up',
    window: null,
    cap: null,
    due: null,
    earnings: 0,
  }
}

function findOrigin(binding: Binding | null, choice: Choice): 'customer' | 'partner' | 'group' {
  if (binding) return 'customer'
  return choice.partner ? 'partner' : 'group'
}

function formatTime(time: Date | null): string | null {
  return time?.toISOString() ?? null
}

/** Sums beyond 2^53 are texts, because a JSON number would lose digits. */
function formatActual(actual: Actual): string | number | boolean | null {
  if (typeof actual !== 'bigint') return actual ?? null
  return Number.isSafeInteger(Number(actual)) ? Number(actual) : String(actual)
}
