import { createHash } from 'node:crypto'
import type { Link } from '@tributary/contract/links'
import type { Trigger, WebhookData, WebhookEvent } from '@tributary/contract/webhooks'
import { type Customer, presentCustomer } from '../customers/service.ts'
import { type EventRows, presentLead, presentSale, presentVisit } from '../events/service.ts'
import type { ClicksStored } from '../ingest/messages.ts'
import type { LinkEvent } from '../links/messages.ts'

/** What is told, the link that decides who hears it, and the person it tells of. */
export type Told = { event: WebhookEvent; link: Link; customerId: string | null }

export function toldOfLink({ id, event, createdAt }: LinkEvent, link: Link): Told {
  return told({ id, event, createdAt, data: discreet(link) }, link)
}

export function toldOfClick(row: ClicksStored['clicks'][number], link: Link): Told {
  const createdAt = new Date(row.timestamp).toISOString()
  const data = { click: presentVisit(row, row.id_text, createdAt), link: discreet(link) }
  return told({ id: clickEventId(row.id_text), event: 'link.clicked', createdAt, data }, link)
}

export function toldOfLead(row: EventRows['leads'], link: Link, customer: Customer | undefined): Told {
  const lead = presentLead(row, discreet(link), presentCustomer(customer, row.customer_id))
  const event = { id: row.id, event: 'lead.created' as const, createdAt: row.timestamp, data: leadPart(lead, customer) }
  return told(event, link, row.customer_id)
}

export function toldOfSale(
  row: EventRows['sales'],
  event: 'sale.created' | 'sale.refunded',
  link: Link,
  customer: Customer | undefined,
): Told {
  const sale = presentSale(row, discreet(link), presentCustomer(customer, row.customer_id))
  const { amount, currency, paymentProcessor, invoiceId } = sale.sale
  const data = { ...leadPart(sale, customer), sale: { amount, currency, paymentProcessor, invoiceId } }
  return told({ id: row.id, event, createdAt: row.timestamp, data }, link, row.customer_id)
}

/** The same for the same click whenever it is told. */
export function clickEventId(clickId: string): string {
  return `evt_${createHash('sha256').update(clickId).digest('hex').slice(0, 32)}`
}

function told<Event extends Trigger>(
  event: { id: string; event: Event; createdAt: string; data: WebhookData[Event] },
  link: Link,
  customerId: string | null = null,
): Told {
  return { event: event as WebhookEvent, link, customerId }
}

type Lead = Omit<WebhookData['lead.created'], 'partner'>

/** Of one who was erased, what was sent along is not told: it may not be emptied yet where it is stored. */
function leadPart({ eventName, customer, click, link, metadata }: Lead, person: Customer | undefined) {
  const isThere = person && person.erased_at === null
  return { eventName, customer, click, link, partner: null, metadata: isThere ? metadata : null }
}

/** Who hears of a link need not know its password, which is stored nowhere in clear text. */
function discreet(link: Link): Link {
  return { ...link, password: null }
}
