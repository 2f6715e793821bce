import type { WebhookSource } from '../webhooks/service.ts'
import { type PartnerChanged, partnerChanged, partnerChangedSubject } from './messages.ts'

// Events of partners belong to no link, so only webhooks for the whole workspace get them.
const noLink = { folderId: null, webhookIds: [] }

/** The source of the webhook events `partner.*`. */
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
