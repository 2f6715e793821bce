import { randomBytes, randomUUID } from 'node:crypto'
import {
  appendClicks,
  appendConversions,
  type NewClick,
  type NewConversions,
} from '../../src/features/event-storage/service.ts'
import type { Platform } from '../../src/platform/context.ts'
import { transaction } from '../../src/platform/postgres.ts'

export type NewEvents = NewConversions & { clicks: NewClick[] }
type Owner = { workspaceId: string; linkNumber: bigint }

/** Builds a row as the worker would store it; omitted fields get fixed values. */
export function clickRow({ workspaceId, linkNumber }: Owner, given: Partial<NewClick> = {}): NewClick {
  const location = { country: 'DE', region: 'DE-BE', city: 'Berlin', continent: 'EU' }
  const device = { device: 'Desktop', browser: 'Chrome', os: 'Linux' }
  const campaign = { utm_source: '', utm_medium: '', utm_campaign: '', utm_term: '', utm_content: '' }
  return {
    workspace_id: workspaceId,
    timestamp: Date.now(),
    id_text: randomBytes(30).toString('base64url'),
    link_number: String(linkNumber),
    url: 'https://example.com/landing',
    trigger: 'link',
    ip: '::ffff:10.0.0.1',
    referer: '(direct)',
    referer_url: '(direct)',
    bot: '',
    ...location,
    ...device,
    ...campaign,
    ...given,
  }
}

export type NewLead = NewConversions['leads'][number]
export type NewSale = NewConversions['sales'][number]

export function leadRow(owner: Owner, given: Partial<NewLead> = {}): NewLead {
  const { id_text, ...click } = clickRow(owner)
  const lead = { event_name: 'Sign up', customer_id: 'cus_nobody', metadata: '', click_id_text: id_text }
  return { ...click, ...lead, id: `evt_${randomUUID()}`, click_timestamp: click.timestamp, ...given }
}

export function saleRow(owner: Owner, given: Partial<NewSale> = {}): NewSale {
  const sale = { kind: 'sale', sales: 1, amount: '1000', currency: 'usd', sale_type: 'new' }
  return { ...leadRow(owner), ...sale, invoice_id: 'in_1', payment_processor: 'stripe', ...given }
}

export async function storeEvents(platform: Platform, events: Partial<NewEvents>): Promise<void> {
  const token = randomUUID()
  const { clicks = [], leads = [], sales = [] } = events
  await appendClicks(platform, clicks, token)
  if (leads.length + sales.length === 0) return
  await transaction(platform, (platform) => appendConversions(platform, { leads, sales }, token))
}
