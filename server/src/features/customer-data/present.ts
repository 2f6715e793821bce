import { boundedSum } from '@tributary/contract/common'
import type { Link } from '@tributary/contract/links'
import type { Customer } from '../customers/service.ts'
import type { ConversionClick, StoredClick, WholeClick } from '../event-storage/service.ts'
import type { Conversion } from '../track/service.ts'

type Links = Map<bigint, Link>
type Facts = Omit<WholeClick, 'id_text' | 'at' | 'link_number' | 'bot'>

export function presentPerson(row: Customer, links: Links) {
  return {
    id: row.id,
    externalId: row.external_id,
    name: row.name,
    email: row.email,
    avatar: row.avatar,
    stripeCustomerId: row.stripe_customer_id,
    country: row.country,
    clickId: row.click_id,
    ...presentLink(links, row.link_number),
    deferredDiscountCode: row.deferred_code,
    sales: Number(row.sales),
    saleAmount: boundedSum(row.sale_amount),
    firstSaleAt: row.first_sale_at,
    subscriptionCanceledAt: row.subscription_canceled_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

export function presentClick(row: WholeClick, links: Links) {
  return {
    id: row.id_text,
    timestamp: new Date(Number(row.at)),
    ...presentLink(links, BigInt(row.link_number)),
    ...presentFacts(row),
    bot: row.bot || null,
  }
}

/** What a lead, sale or refund has of its click: in ClickHouse, or in PostgreSQL until it is there. */
export function presentEventClick(row: Conversion, stored: ConversionClick | undefined) {
  const copied = row.click_facts === null ? undefined : (JSON.parse(row.click_facts) as StoredClick)
  const facts = row.click_id === null ? undefined : (stored ?? copied)
  return facts ? presentFacts(facts) : null
}

/** A lead, sale or refund; `click` and `decision` are undefined if the caller may not read them. */
export function presentEvent(row: Conversion, links: Links, click: object | null | undefined, decision: unknown) {
  return {
    event: row.kind,
    id: row.id,
    timestamp: row.created_at,
    eventName: row.event_name,
    quantity: row.quantity,
    ...(row.kind !== 'lead' && presentPayment(row)),
    ...presentLink(links, row.link_number),
    partnerId: row.partner_id,
    attribution: row.attribution,
    isFromPage: row.from_page,
    metadata: row.metadata === null ? null : JSON.parse(row.metadata),
    clickId: row.click_id,
    click,
    commissionDecision: decision,
  }
}

function presentPayment(row: Conversion) {
  return {
    amount: boundedSum(row.amount),
    currency: row.currency,
    originalAmount: row.original_amount === null ? null : boundedSum(row.original_amount),
    originalCurrency: row.original_currency,
    paymentProcessor: row.payment_processor,
    invoiceId: row.invoice_id,
    ...(row.kind === 'sale' ? { isFirst: row.is_first } : { refundId: row.refund_id, isFull: row.is_full }),
  }
}

function presentFacts(facts: Facts) {
  return {
    url: facts.url,
    trigger: facts.trigger,
    ip: facts.ip === '::' ? null : facts.ip.replace(/^::ffff:(?=\d+\.)/, ''),
    country: facts.country,
    region: facts.region,
    city: facts.city,
    continent: facts.continent,
    device: facts.device,
    browser: facts.browser,
    os: facts.os,
    referer: facts.referer,
    refererUrl: facts.referer_url,
    utm_source: facts.utm_source,
    utm_medium: facts.utm_medium,
    utm_campaign: facts.utm_campaign,
    utm_term: facts.utm_term,
    utm_content: facts.utm_content,
  }
}

function presentLink(links: Links, number: bigint | null) {
  const link = number === null ? undefined : links.get(number)
  return { linkId: link?.id ?? null, shortLink: link?.shortLink ?? null }
}
