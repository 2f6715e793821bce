import { boundedSum } from '@tributary/contract/common'
import type { JourneyClick, JourneyCommission, JourneyEvent, JourneyLink, Touch } from '@tributary/contract/journeys'
import type { Link } from '@tributary/contract/links'
import type { paymentProcessors } from '@tributary/contract/track'
import { presentClickData } from '../events/service.ts'
import type { JourneyClick as Click, Conversion } from '../track/service.ts'

export type Known = {
  links: Map<bigint, Link>
  partners: Map<string, { id: string; name: string }>
  /** Undefined for callers who may not read commissions. */
  commissions: Map<bigint, JourneyCommission[]> | undefined
}

export function presentTouch(click: Click, { links }: Pick<Known, 'links'>): Touch {
  return { click: presentClick(click), link: presentLink(links, click.linkNumber) }
}

export function presentClickEvent(click: Click, known: Known): JourneyEvent {
  return { event: 'click', timestamp: new Date(click.at).toISOString(), ...presentTouch(click, known) }
}

/** A lead, sale or refund; `value` is the customer's value after it. */
export function presentConversion(row: Conversion, value: bigint, known: Known): JourneyEvent {
  const { id, name } = known.partners.get(row.partner_id ?? '') ?? {}
  const shared = {
    id: row.id,
    timestamp: row.created_at.toISOString(),
    link: presentLink(known.links, row.link_number),
    eventName: row.event_name,
    attribution: row.attribution,
    clickId: row.click_id,
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, unknown>),
    partner: id !== undefined && name !== undefined ? { id, name } : null,
    commissions: known.commissions ? (known.commissions.get(row.number) ?? []) : null,
  }
  if (row.kind === 'lead') return { event: 'lead', ...shared, quantity: row.quantity }
  const payment = {
    ...shared,
    amount: boundedSum(row.amount),
    currency: row.currency ?? 'usd',
    originalAmount: row.original_amount === null ? null : boundedSum(row.original_amount),
    originalCurrency: row.original_currency,
    invoiceId: row.invoice_id,
    paymentProcessor: row.payment_processor as (typeof paymentProcessors)[number] | null,
    saleAmount: boundedSum(value),
  }
  if (row.kind === 'sale') return { event: 'sale', ...payment }
  return { event: 'refund', ...payment, refundId: row.refund_id, isFull: row.is_full }
}

/** A click without the visitor's address. */
function presentClick({ id, at, facts }: Click): JourneyClick {
  const { ip: _, ...click } = presentClickData(facts, id, new Date(at).toISOString())
  return click
}

function presentLink(links: Map<bigint, Link>, number: bigint | null): JourneyLink | null {
  const link = number === null ? undefined : links.get(number)
  return link ? { id: link.id, domain: link.domain, key: link.key, shortLink: link.shortLink, url: link.url } : null
}
