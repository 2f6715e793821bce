import type { Link } from '@tributary/contract/links'
import { chunks } from '../../platform/batches.ts'
import { asSystem, type Ctx } from '../../platform/context.ts'
import { type Customer, customersById } from '../customers/service.ts'
import { loadEventLinks, presentConversion } from '../events/service.ts'
import { type EarningPartner, findPartnersById, summarizeEarners } from '../partners/service.ts'
import type { WebhookDraft, WebhookDrafts, WebhookRelease, WebhookSource } from '../webhooks/service.ts'
import {
  type ClickFactsResolved,
  type ConversionRecorded,
  clickFactsResolved,
  clickFactsSubject,
  conversionRecorded,
  conversionSubjects,
} from './messages.ts'
import { type RecordedConversion, readConversions } from './service.ts'

const conversionsAtOnce = 100
const triggers = { lead: 'lead.created', sale: 'sale.created', refund: 'sale.refunded' } as const

/** Sources of `lead.created`, `sale.created` and `sale.refunded`. These events wait for their click facts. */
export const conversionWebhooks = (['lead', 'sale', 'refund'] as const).map(
  (kind): WebhookSource<ConversionRecorded> => ({
    name: `webhooks-${kind}s`,
    subject: conversionSubjects[kind],
    schema: conversionRecorded,
    async *read(platform, recorded, findListening) {
      const attributed = recorded.filter(({ linkNumber }) => linkNumber !== null)
      for (const [workspaceId, mine] of Map.groupBy(attributed, (event) => event.workspaceId)) {
        const listening = await findListening(new Set([triggers[kind]]), [workspaceId])
        if (listening.size === 0) continue
        const ctx = asSystem(platform, workspaceId)
        for (const part of chunks(mine, conversionsAtOnce)) {
          const ids = part.map(({ id }) => id)
          yield { workspaceId, build: await prepareDrafts(ctx, await readConversions(ctx, ids)) }
        }
      }
    },
    rebuild: rebuildKnown,
  }),
)

/** Releases webhook events of leads and sales whose click facts are now known. */
export const clickFactsRelease: WebhookRelease<ClickFactsResolved> = {
  name: 'webhooks-click-facts',
  subject: clickFactsSubject,
  schema: clickFactsResolved,
  readIds: ({ workspaceId, conversionIds }) => ({ workspaceId, ids: conversionIds }),
  rebuild: rebuildKnown,
}

async function rebuildKnown(ctx: Ctx, ids: string[]): Promise<WebhookDrafts['build']> {
  const known = (await readConversions(ctx, ids)).filter(({ hasClickFacts }) => hasClickFacts)
  return prepareDrafts(ctx, known)
}

/** Prepares webhook events. `build` locks the customers, so that a later erasure finds the stored events. */
async function prepareDrafts(ctx: Ctx, conversions: RecordedConversion[]): Promise<WebhookDrafts['build']> {
  const findLink = await loadEventLinks(
    ctx,
    conversions.map(({ row }) => row),
  )
  return async (ctx) => {
    const customers = await customersById(
      ctx,
      conversions.map(({ row }) => row.customer_id),
    )
    const found = conversions.map((conversion) => ({ conversion, link: findLink(conversion.row) }))
    const ids = found.flatMap(({ link }) => link.partnerId ?? [])
    const partners = await findEarners(ctx, ids)
    return found.map(({ conversion, link }) => {
      const customer = customers.get(conversion.row.customer_id)
      return draftConversion(conversion, { link, partner: partners.get(link.partnerId ?? '') ?? null, customer })
    })
  }
}

/** Partners with their totals, by id. */
async function findEarners(ctx: Ctx, ids: string[]): Promise<Map<string, EarningPartner | undefined>> {
  const partners = [...(await findPartnersById(ctx, ids))]
  const numbers = partners.map(([, { number }]) => number)
  const earners = await summarizeEarners(ctx, numbers)
  return new Map(partners.map(([id, { number }]) => [id, earners.get(number)]))
}

type Parties = { link: Link; partner: EarningPartner | null; customer: Customer | undefined }

function draftConversion(conversion: RecordedConversion, { link, partner, customer }: Parties): WebhookDraft {
  const { row, kind, hasClickFacts } = conversion
  const presented = presentConversion(row, { ...link, password: null }, customer)
  const { eventName, customer: person, click, link: shown, metadata } = presented
  // The metadata of a customer who was just erased may still be in PostgreSQL.
  const isErased = !customer || customer.erased_at !== null
  const lead = { eventName, customer: person, click, link: shown, partner, metadata: isErased ? null : metadata }
  const about = { id: row.id, createdAt: row.timestamp }
  // The click facts of an erased customer are never saved, so its events do not wait for them.
  const isWaiting = !hasClickFacts && !isErased
  const draft = { link, customerId: row.customer_id, ...(isWaiting && { waitsFor: 'click' as const }) }
  if (presented.event === 'lead') return { ...draft, event: { ...about, event: 'lead.created', data: lead } }
  const { amount, currency, paymentProcessor, invoiceId } = presented.sale
  const data = { ...lead, sale: { amount, currency, paymentProcessor, invoiceId } }
  return { ...draft, event: { ...about, event: kind === 'refund' ? 'sale.refunded' : 'sale.created', data } }
}
