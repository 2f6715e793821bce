import type { WebhookSource } from '../webhooks/service.ts'
import { type CodeChanged, codeChanged, codeChangedSubject } from './messages.ts'

// Events of codes belong to no link, so only webhooks for the whole workspace get them.
const noLink = { folderId: null, webhookIds: [] }

/** The source of the webhook events `discount_code.created` and `discount_code.deleted`. */
export const discountCodeWebhooks: WebhookSource<CodeChanged> = {
  name: 'webhooks-discount-codes',
  subject: codeChangedSubject,
  schema: codeChanged,
  async *read(_platform, changes, findListening) {
    for (const [workspaceId, mine] of Map.groupBy(changes, (change) => change.workspaceId)) {
      const listening = await findListening(new Set(mine.map(({ type }) => type)), [workspaceId])
      if (listening.size === 0) continue
      const drafts = mine.map(({ id, type, createdAt, code }) => ({
        event: { id, event: type, createdAt, data: code },
        link: noLink,
        customerId: null,
      }))
      yield { workspaceId, build: async () => drafts }
    }
  },
}
