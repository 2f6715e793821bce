import { chunks } from '../../platform/batches.ts'
import { type PartnersUpdated, partnersUpdated, partnersUpdatedSubject } from '../partners/messages.ts'
import { partnersByNumber } from '../partners/service.ts'
import type { WebhookSource } from '../webhooks/service.ts'
import { type PartnerChanged, partnerChanged, partnerChangedSubject } from './messages.ts'
import { presentPartners } from './present.ts'

const partnersAtOnce = 100
// Events of partners belong to no link, so only webhooks for the whole workspace get them.
const noLink = { folderId: null, webhookIds: [] }

/** The source of the webhook events of new, applying and merged partners. */
export const partnerWebhooks: WebhookSource<PartnerChanged> = {
  name: 'webhooks-partners',
  subject: partnerChangedSubject,
  schema: partnerChanged,
  async *read(_platform, changes, findListening) {
    for (const [workspaceId, mine] of Map.groupBy(changes, (change) => change.workspaceId)) {
      const listening = await findListening(new Set(mine.map(({ event }) => event.event)), [workspaceId])
      if (listening.size === 0) continue
      const drafts = mine.map(({ event }) => ({ event, link: noLink, customerId: null }))
      yield { workspaceId, build: async () => drafts }
    }
  },
}

/** The source of the webhook event `partner.updated`: the partner as it is when the event is stored. */
export const partnerUpdateWebhooks: WebhookSource<PartnersUpdated> = {
  name: 'webhooks-partner-updates',
  subject: partnersUpdatedSubject,
  schema: partnersUpdated,
  async *read(_platform, changes, findListening) {
    for (const [workspaceId, mine] of Map.groupBy(changes, (change) => change.workspaceId)) {
      const listening = await findListening(new Set(['partner.updated']), [workspaceId])
      if (listening.size === 0) continue
      const events = mine.flatMap((change) => change.events)
      for (const part of chunks(events, partnersAtOnce)) {
        yield {
          workspaceId,
          async build(ctx) {
            const numbers = part.map(({ partnerNumber }) => BigInt(partnerNumber))
            const rows = [...(await partnersByNumber(ctx, numbers)).values()]
            const presented = await presentPartners(ctx, rows)
            const shown = new Map(rows.map(({ number }, index) => [String(number), presented[index]]))
            return part.flatMap(({ id, createdAt, partnerNumber }) => {
              const data = shown.get(partnerNumber)
              if (!data) return []
              return [
                { event: { id, event: 'partner.updated' as const, createdAt, data }, link: noLink, customerId: null },
              ]
            })
          },
        }
      }
    }
  },
}
