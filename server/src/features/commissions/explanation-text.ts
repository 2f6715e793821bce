import { formatDecimal } from '../money/service.ts'
import type { Conversion } from '../track/service.ts'
import type { Commission, Detail } from './commission.ts'
import type { WaitReason } from './queue-store.ts'
import type { ReviewReason } from './review.ts'

type Why = NonNullable<Detail['why']>
type Line = Why['lines'][number]
/** The columns of a commission that its explanation mentions. */
type Explained = Pick<Commission, 'type' | 'status' | 'description' | 'amount' | 'earnings' | 'currency'> & {
  due_at: Date
  status_reason: string | null
}

/** Why a commission has its amount, in words. */
export function commissionText(commission: Explained, { why, edit, clawback }: Detail): string {
  const byHand = edit ? ' It was changed by hand afterwards.' : ''
  if (clawback) {
    const money = (amount: string) => formatMoney(BigInt(amount), commission.currency)
    return `A refund lowered the earnings of ${clawback.commissionId} from ${money(clawback.before)} to ${money(clawback.after)} after its payout was on its way.${byHand}`
  }
  const state = stateText(commission)
  if (!why) return `It was created by hand${commission.description ? `: ${commission.description}` : ''}.${state}`
  const sums = why.lines.map((line) => `${lineText(line, why)} = ${formatMoney(line.earnings, why.event.currency)}`)
  const isCapped = why.cap && why.earnings < sum(why.lines)
  const cap = isCapped ? `, which the spend limit lowers to ${formatMoney(why.earnings, why.event.currency)}` : ''
  const changes = byHand || refundText(commission, why)
  return `Version ${why.reward?.version} of ${rewardName(why)}: ${sums.join(', ')}${cap}.${changes}${state}`
}

/** Names the discount code that a lead or sale is attributed by. */
export function codeText(conversion: Pick<Conversion, 'kind' | 'attribution' | 'metadata'> | undefined): string {
  if (conversion?.attribution !== 'discount_code') return ''
  const code = conversion.metadata === null ? undefined : JSON.parse(conversion.metadata).discountCode
  return ` The ${conversion.kind} belongs to the partner by the discount code${code ? ` ${code}` : ''}.`
}

/** Why an event earned nothing, in words. */
export function nothingText(
  reason: string,
  why: Why | null,
  { kind, link_number }: Pick<Conversion, 'kind' | 'link_number'>,
): string {
  switch (reason) {
    case 'no_partner':
      if (link_number === null) return `The ${kind} was not attributed to a link, so it has no partner.`
      return `The link of the ${kind} did not belong to a partner.`
    case 'no_reward':
      return `Neither the partner nor its group had a reward for ${kind}s at the time of the ${kind}.`
    case 'not_enrolled':
      if (!why) return `The partner did not exist when the ${kind} was decided.`
      return `The partner was ${why.event.partnerStatus} when the ${kind} was decided. Only approved, invited and archived partners earn.`
    case 'window_over':
      return windowText(why?.window ?? null)
    case 'capped':
      return capText(why)
    case 'zero':
      return `The terms give nothing for this ${kind}${why ? `: ${why.lines.map((line) => lineText(line, why)).join(', ')}` : ''}.`
    default:
      return texts[reason] ?? `The ${kind} earned nothing: ${reason}.`
  }
}

/** Why an event is not decided yet, in words. */
export function waitingText(reason: WaitReason | undefined | null): string {
  return reason ? waitTexts[reason] : 'The event is not decided yet. Ask again in a few seconds.'
}

const waitTexts: Record<WaitReason, string> = {
  no_country: "The reward depends on the customer's country, which is known once the click is stored.",
  no_exchange_rate: "There is no exchange rate from the sale's currency to the program's. The event is tried again.",
  earlier_event: 'An earlier event of the customer is not decided yet.',
  failed: 'Deciding the event failed. It is tried again; the log of the worker has the error.',
}

const texts: Record<string, string> = {
  changed: 'The refund changed the commission of its sale.',
  self_referral:
    "The customer has the partner's e-mail address, and partners earn nothing for their own leads and sales.",
  voided:
    'The first commission for this customer is fraud or canceled, so further events of the customer earn nothing.',
  duplicate_lead: 'The partner already has a lead commission for this customer.',
  no_sale: 'The sale of the refund is unknown.',
  no_commission: 'The sale of the refund had earned no commission.',
  unchanged: 'The refund does not change the earnings of its sale.',
}

const reviewTexts: Record<ReviewReason, string> = {
  page: 'because a web page reported it with a publishable key, which anybody can read',
  same_person: "because the customer's e-mail address reaches the partner's mailbox",
}

function stateText({ status, due_at, status_reason }: Explained): string {
  switch (status) {
    case 'pending':
      return ` It is due on ${formatDay(due_at.toISOString())}.`
    case 'processed':
      return " It is in the partner's payout."
    case 'hold':
      return ` It is on hold${status_reason ? `, ${reviewTexts[status_reason as ReviewReason]}` : ''}. Set its status to pending to confirm it.`
    default:
      return ` It is ${status}.`
  }
}

function refundText({ amount, earnings, currency }: Explained, why: Why): string {
  if (why.event.kind !== 'sale' || earnings === BigInt(why.earnings)) return ''
  return ` Refunds left ${formatMoney(amount, currency)} of the sale, which earn ${formatMoney(earnings, currency)}.`
}

function rewardName({ reward }: Why): string {
  if (reward?.origin === 'partner') return "the partner's own reward"
  if (reward?.origin === 'customer') return "the reward that the customer's first sale was bound to"
  return "the group's reward"
}

function lineText({ type, rate, amount, quantity, productId, isOpen }: Line, { event }: Why): string {
  const product = productId === null ? '' : ` for ${productId}`
  if (!isOpen) return `nothing${product}, because the window is over`
  if (type === 'percentage') return `${rate / 100} % of ${formatMoney(amount, event.currency)}${product}`
  return `${formatMoney(rate, event.currency)}${quantity === 1 ? '' : ` × ${quantity}`}${product}`
}

function windowText(window: Why['window']): string {
  if (!window?.endsAt) return "The time in which the customer's sales earn is over."
  const first = formatDay(window.firstSaleAt)
  if (window.endsAt === window.firstSaleAt) return `Only the customer's first sale earns, and that was on ${first}.`
  return `The customer's sales earned until ${formatDay(window.endsAt)}, counted from the first sale on ${first}.`
}

const intervals = { day: 'a day', week: 'a week', month: 'a month', allTime: 'in total' }
const scopes = { partner: 'each partner', customer: 'each customer', group: 'the group', program: 'the program' }

function capText(why: Why | null): string {
  if (!why?.cap) return 'The spend limit of the reward was reached.'
  const { amount, interval, scope } = why.cap
  const limit = formatMoney(amount, why.event.currency)
  return `The spend limit of the reward was reached: ${limit} ${intervals[interval]} for ${scopes[scope]}.`
}

function formatMoney(amount: bigint | number, currency: string): string {
  return `${formatDecimal({ amount: BigInt(amount), currency })} ${currency.toUpperCase()}`
}

function formatDay(time: string): string {
  return time.slice(0, 10)
}

function sum(lines: Line[]): number {
  return lines.reduce((total, { earnings }) => total + earnings, 0)
}
