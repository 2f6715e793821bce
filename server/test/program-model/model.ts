import type { Binding, Choice, History, RewardEvent, RewardVersion, Why } from '../../src/features/rewards/terms.ts'

/*
 * A plain model of what an event earns, written from the rules alone. It shares types with the product, but no code, and
 * prefers obvious steps over short ones.
 */

export type ModelDecision =
  | { earnings: bigint; version: bigint; bindsUntil: string | null | undefined; dueAt: string; capped: bigint }
  | { reason: string }

type Terms = RewardVersion['terms']
type Rate = Pick<Terms, 'type' | 'amount' | 'maxDuration'>
type Line = { productId: string | undefined; amount: bigint; quantity: bigint }
/** A line of a sale with the rate that was chosen for it. */
export type RatedLine = { type: string; rate: bigint; amount: bigint; quantity: bigint }
/** What is needed to compute earnings again: the rated lines, and what was left of the cap. */
export type Inputs = { lines: RatedLine[]; left: bigint | null }

export function modelDecide(event: RewardEvent, history: History, choice: Choice): ModelDecision {
  return modelJudge(event, history, choice).decision
}

export function modelJudge(
  event: RewardEvent,
  history: History,
  choice: Choice,
): { decision: ModelDecision; inputs: Inputs } {
  const inputs: Inputs = { lines: [], left: null }
  return { decision: judge(event, history, choice, inputs), inputs }
}

function judge(event: RewardEvent, history: History, choice: Choice, inputs: Inputs): ModelDecision {
  const mayEarn = { approved: true, invited: true, archived: true }[event.partner.status] ?? false
  if (!mayEarn) return { reason: 'not_enrolled' }
  const [buyer, seller] = [event.customer?.email, event.partner.email]
  if (buyer && seller && buyer.toUpperCase() === seller.toUpperCase()) return { reason: 'self_referral' }
  if (history.isVoid) return { reason: 'voided' }
  if (event.kind === 'lead' && history.hasLeadCommission) return { reason: 'duplicate_lead' }

  const binding = event.kind === 'sale' ? history.binding : null
  const version = modelVersion(binding, choice, event.at)
  if (version === null) return { reason: 'no_reward' }

  const isOpen = (rate: Rate) => {
    if (binding === null || rate.maxDuration === null) return true
    if (rate.maxDuration === 0) return false
    return event.at.getTime() < laterBy(binding.firstSaleAt, rate.maxDuration).getTime()
  }
  let total = 0n
  let isAnyOpen = false
  for (const line of modelLines(event)) {
    const matching = version.terms.modifiers.filter((modifier) => {
      const results = modifier.conditions.map((condition) => isTrue(condition, event, line))
      return modifier.operator === 'AND' ? !results.includes(false) : results.includes(true)
    })
    const rates: Rate[] = matching.length === 0 ? [version.terms] : matching
    let best: RatedLine | undefined
    for (const rate of rates) {
      if (!isOpen(rate)) continue
      isAnyOpen = true
      const rated = { type: rate.type, rate: rate.amount, amount: line.amount, quantity: line.quantity }
      if (best === undefined || formula(rated) > formula(best)) best = rated
    }
    if (best === undefined) continue
    inputs.lines.push(best)
    total += formula(best)
  }
  if (!isAnyOpen) return { reason: 'window_over' }
  if (total === 0n) return { reason: 'zero' }

  let earnings = total
  const { cap } = version.terms
  if (cap !== null) {
    let left = cap.amount - history.spent
    if (left < 0n) left = 0n
    inputs.left = left
    if (earnings > left) earnings = left
  }
  if (earnings === 0n) return { reason: 'capped' }
  return {
    earnings,
    version: version.number,
    bindsUntil: event.kind === 'sale' && binding === null ? pairEnd(version.terms, event.at) : undefined,
    dueAt: new Date(event.at.getTime() + event.partner.holdingPeriodDays * 24 * 3_600_000).toISOString(),
    capped: total - earnings,
  }
}

/** Computes earnings again from an explanation alone. */
export function modelRecompute(why: Why): bigint {
  return modelEarnings(explainedInputs(why))
}

/** What is earned when only a part of the sale's amount is left, by the lines of its explanation. */
export function modelRefund(why: Why, amountLeft: bigint): bigint {
  return modelEarningsAfter(explainedInputs(why), BigInt(why.event.amount), amountLeft)
}

/** What the inputs earn when the sale's amount becomes another one: each line in proportion. */
export function modelEarningsAfter(inputs: Inputs, amount: bigint, amountLeft: bigint): bigint {
  if (amountLeft === 0n) return 0n
  const lines = inputs.lines.map((line) => ({
    ...line,
    amount: amount === 0n ? 0n : halfUp(line.amount * amountLeft, amount),
  }))
  return modelEarnings({ ...inputs, lines })
}

function modelEarnings({ lines, left }: Inputs): bigint {
  const total = sum(lines.map(formula))
  return left !== null && total > left ? left : total
}

function explainedInputs(why: Why): Inputs {
  const open = why.lines.filter(({ isOpen }) => isOpen)
  const lines = open.map(({ type, rate, amount, quantity }) => {
    return { type, rate: BigInt(rate), amount: BigInt(amount), quantity: BigInt(quantity) }
  })
  return { lines, left: why.cap ? BigInt(why.cap.left) : null }
}

function formula({ type, rate, amount, quantity }: RatedLine): bigint {
  if (type === 'flat') return rate * quantity
  return (amount * rate * 2n + 10_000n) / (2n * 10_000n)
}

/** The version that applies: a customer keeps that of its first sale, others get the current one. */
export function modelVersion(binding: Binding | null, choice: Choice, at: Date): RewardVersion | null {
  return binding ? boundVersion(binding, at) : (choice.partner ?? choice.group)
}

function boundVersion(binding: Binding, at: Date): RewardVersion {
  let version = binding.version
  let end = binding.endsAt?.toISOString() ?? null
  for (const later of binding.later) {
    const hasEnded = end !== null && Date.parse(end) <= later.createdAt.getTime()
    if (hasEnded || at.getTime() < later.createdAt.getTime()) return version
    version = later
    end = pairEnd(later.terms, binding.firstSaleAt)
  }
  return version
}

/** The window of a customer lasts as long as the longest of its terms. */
export function pairEnd(terms: Terms, firstSaleAt: Date): string | null {
  let end = ''
  for (const { maxDuration } of [terms, ...terms.modifiers]) {
    if (maxDuration === null) return null
    const candidate = laterBy(firstSaleAt, maxDuration).toISOString()
    if (candidate > end) end = candidate
  }
  return end
}

/** Calendar months later, on the last day of a month that is too short. */
export function laterBy(from: Date, months: number): Date {
  const monthsSinceYear0 = from.getUTCFullYear() * 12 + from.getUTCMonth() + months
  const year = Math.floor(monthsSinceYear0 / 12)
  const month = monthsSinceYear0 % 12
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] as number
  const day = Math.min(from.getUTCDate(), days)
  const timeOfDay = from.toISOString().slice(10)
  return new Date(`${year}-${String(month + 1).padStart(2, '0')}-${String(day).padStart(2, '0')}${timeOfDay}`)
}

function modelLines(event: RewardEvent): Line[] {
  const quantity = BigInt(event.quantity)
  if (event.kind !== 'sale') return [{ productId: undefined, amount: event.amount, quantity }]
  const metadata = event.metadata ?? {}
  let base = event.originalAmount
  if (isAmount(metadata.commissionableAmount) && BigInt(metadata.commissionableAmount) <= base) {
    base = BigInt(metadata.commissionableAmount)
  }
  const convert = (part: bigint) =>
    event.originalAmount === 0n ? part : halfUp(event.amount * part, event.originalAmount)

  if (areProducts(metadata.products)) {
    const amounts = metadata.products.map((product) => BigInt(product.amount))
    let rewarded = sum(amounts)
    if (rewarded > base) rewarded = base
    const shares = divide(convert(rewarded), amounts)
    return metadata.products.map((product, at) => ({
      productId: product.id,
      amount: shares[at] as bigint,
      quantity: BigInt(product.quantity ?? 1),
    }))
  }
  const productId = typeof metadata.productId === 'string' ? metadata.productId : undefined
  return [{ productId, amount: convert(base), quantity }]
}

function areProducts(given: unknown): given is { id: string; amount: number; quantity?: number }[] {
  if (!Array.isArray(given) || given.length === 0) return false
  for (const product of given) {
    if (product === null || typeof product !== 'object') return false
    if (typeof product.id !== 'string' || !isAmount(product.amount)) return false
    if (product.quantity === undefined) continue
    if (!isAmount(product.quantity) || product.quantity < 1 || product.quantity > 10_000) return false
  }
  return true
}

function isAmount(given: unknown): given is number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0
}

function isTrue(condition: Terms['modifiers'][number]['conditions'][number], event: RewardEvent, line: Line): boolean {
  const actual = valueFor(`${condition.entity}.${condition.attribute}`, event, line)
  if (actual === undefined || actual === null) return false
  const expected = condition.value
  const list = Array.isArray(expected) ? expected.map(String) : [String(expected)]
  switch (condition.operator) {
    case 'equals_to':
    case 'in':
      return list.includes(String(actual))
    case 'not_equals':
    case 'not_in':
      return !list.includes(String(actual))
    case 'starts_with':
      return String(actual).indexOf(list[0] as string) === 0
    case 'ends_with':
      return String(actual).slice(String(actual).length - (list[0] as string).length) === list[0]
    case 'contains':
      return String(actual).indexOf(list[0] as string) !== -1
    case 'not_contains':
      return String(actual).indexOf(list[0] as string) === -1
    default:
      return isOrdered(condition.operator, sign(actual, expected as string | number, condition.attribute))
  }
}

function isOrdered(operator: string, comparison: number | undefined): boolean {
  if (comparison === undefined) return false
  if (operator.startsWith('greater_than') && comparison > 0) return true
  if (operator.startsWith('less_than') && comparison < 0) return true
  return operator.endsWith('_or_equal') && comparison === 0
}

function sign(actual: unknown, expected: string | number, attribute: string): number | undefined {
  const order = <T extends number | bigint | string>(one: T, other: T) => (one > other ? 1 : one < other ? -1 : 0)
  if (!attribute.startsWith('metadata.')) {
    if (typeof actual === 'bigint') return order(actual, BigInt(expected))
    return order(String(actual), String(expected))
  }
  const isNumeric = (text: string) => /^-?[0-9]+([.][0-9]+)?(e[+-]?[0-9]+)?$/.test(text)
  const [one, other] = [String(actual), String(expected)]
  if (isNumeric(one) && isNumeric(other)) return order(Number(one), Number(other))
  const isTime = (text: string) =>
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$/.test(
      text,
    ) && !Number.isNaN(Date.parse(text))
  if (isTime(one) && isTime(other)) return order(Date.parse(one), Date.parse(other))
  return undefined
}

function valueFor(name: string, event: RewardEvent, line: Line): unknown {
  const { customer, partner } = event
  const metadataKey = /^(?:sale|lead)[.]metadata[.](.+)$/s.exec(name)?.[1]
  if (metadataKey !== undefined) {
    const found = Object.entries(event.metadata ?? {}).find(([key]) => key === metadataKey)?.[1]
    if (typeof found === 'string') return found.length > 500 ? undefined : found
    return typeof found === 'number' || typeof found === 'boolean' ? found : undefined
  }
  const day = (date: Date | null | undefined) => date?.toISOString().split('T')[0]
  const values: Record<string, () => unknown> = {
    'customer.country': () => customer?.country?.toUpperCase(),
    'customer.source': () => customer?.source,
    'customer.signupDate': () => day(customer?.createdAt),
    'customer.subscriptionStartDate': () => day(customer?.firstSaleAt),
    'customer.subscriptionDurationMonths': () => {
      if (!customer?.firstSaleAt) return undefined
      let months = 0
      while (laterBy(customer.firstSaleAt, months + 1).getTime() <= event.at.getTime()) months++
      return BigInt(months)
    },
    'partner.country': () => partner.country?.toUpperCase(),
    'partner.totalClicks': () => partner.totals.clicks,
    'partner.totalLeads': () => partner.totals.leads,
    'partner.totalConversions': () => partner.totals.conversions,
    'partner.totalSaleAmount': () => partner.totals.saleAmount,
    'partner.totalCommissions': () => partner.totals.commissions,
    'sale.productId': () => line.productId,
    'sale.amount': () => event.amount,
    'sale.type': () => (event.isFirst ? 'new' : 'recurring'),
  }
  return values[name]?.()
}

function sum(amounts: bigint[]): bigint {
  let total = 0n
  for (const amount of amounts) total += amount
  return total
}

export function halfUp(numerator: bigint, denominator: bigint): bigint {
  const [whole, rest] = [numerator / denominator, numerator % denominator]
  return rest * 2n >= denominator ? whole + 1n : whole
}

/** Largest remainder: units that rounding down leaves over go, one each, to the largest fractions, first come first. */
function divide(total: bigint, weights: bigint[]): bigint[] {
  const whole = sum(weights)
  if (whole === 0n) return weights.map(() => 0n)
  const shares = weights.map((weight) => (total * weight) / whole)
  const fractions = weights.map((weight) => (total * weight) % whole)
  for (let left = total - sum(shares); left > 0n; left--) {
    let largest = 0
    for (let at = 1; at < fractions.length; at++) {
      if ((fractions[at] as bigint) > (fractions[largest] as bigint)) largest = at
    }
    shares[largest] = (shares[largest] as bigint) + 1n
    fractions[largest] = -1n
  }
  return shares
}
