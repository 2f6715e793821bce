import type { Customer } from '@tributary/contract/customers'
import type { ClickEvent, LeadEvent, SaleEvent } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import type { ClickFields, ClickRow, ConversionFields, LeadRow, SaleRow } from './store.ts'

export type Visit = Omit<ClickFields, 'timestamp' | 'link_number'>

export function presentClick(row: ClickRow, link: Link): ClickEvent {
  return { event: 'click', timestamp: row.timestamp, ...clickPart(row, row.id_text, row.timestamp, link) }
}

export function presentLead(row: LeadRow, link: Link, customer: Customer): LeadEvent {
  return { event: 'lead', ...conversionPart(row, link), customer }
}

export function presentSale(row: SaleRow, link: Link, customer: Customer): SaleEvent {
  const amount = Number(row.amount)
  const paymentProcessor = row.payment_processor as SaleEvent['sale']['paymentProcessor']
  return {
    event: 'sale',
    ...conversionPart(row, link),
    sale: { amount, invoiceId: row.invoice_id || null, paymentProcessor, currency: row.currency },
    customer,
    saleAmount: amount,
    invoice_id: row.invoice_id,
    payment_processor: paymentProcessor,
  }
}

function conversionPart(row: ClickFields & ConversionFields, link: Link) {
  return {
    timestamp: row.timestamp,
    eventId: row.id,
    eventName: row.event_name,
    metadata: row.metadata === '' ? null : JSON.parse(row.metadata),
    ...clickPart(row, shownClickId(row), row.click_timestamp, link),
  }
}

/** The click id of a lead or sale; empty for an unattributed one. */
export function shownClickId({ link_number, click_id_text }: Pick<LeadRow, 'link_number' | 'click_id_text'>): string {
  return link_number === '0' ? '' : click_id_text
}

/** The fields of an event about its click and link, with the deprecated copies at the top level. */
function clickPart(row: ClickFields, clickId: string, timestamp: string, link: Link) {
  const click = presentVisit(row, clickId, timestamp)
  const location = { country: row.country, city: row.city, continent: row.continent }
  const device = { device: row.device, browser: row.browser, os: row.os }
  return {
    click,
    link,
    click_id: clickId,
    link_id: link.id,
    domain: link.domain,
    key: link.key,
    url: row.url,
    ...location,
    ...device,
    qr: click.qr ? 1 : 0,
    ip: click.ip,
  }
}

/** Builds the `click` object that every event has. */
export function presentVisit(row: Visit, clickId: string, timestamp: string): ClickEvent['click'] {
  return {
    id: clickId,
    timestamp,
    url: row.url,
    country: row.country,
    city: row.city,
    continent: row.continent,
    region: row.region,
    device: row.device,
    browser: row.browser,
    os: row.os,
    trigger: row.trigger || null,
    referer: row.referer,
    refererUrl: row.referer_url,
    qr: row.trigger === 'qr',
    ip: presentIp(row.ip),
  }
}

export function presentIp(ip: string): string {
  return ip === '::' ? '' : ip.replace(/^::ffff:(?=\d+\.)/, '')
}
