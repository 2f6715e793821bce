import { createHash } from 'node:crypto'
import type { Link } from '@tributary/contract/links'
import { chunks } from '../../platform/batches.ts'
import { asSystem, type Platform } from '../../platform/context.ts'
import type { NewClick } from '../event-storage/service.ts'
import { loadEventLinks, presentClickData } from '../events/service.ts'
import { countDroppedEvents, type WebhookDraft, type WebhookDrafts, type WebhookSource } from '../webhooks/service.ts'
import { type ClickBatchStored, clickBatchStored, clickBatchSubject } from './messages.ts'
import { readStoredClicks } from './service.ts'

const batchesAtOnce = 10
const clicksAtOnce = 100

/** Builds `link.clicked` webhook events for clicks by people, which it reads from the log again. */
export const clickWebhooks: WebhookSource<ClickBatchStored> = {
  name: 'webhooks-click-batches',
  subject: clickBatchSubject,
  schema: clickBatchStored,
  atOnce: batchesAtOnce,
  async *read(platform, batches, findListening) {
    for (const batch of batches) {
      const listening = await findListening(new Set(['link.clicked']), batch.workspaceIds)
      if (listening.size === 0) continue
      const rows = await readStoredClicks(platform, batch)
      if (!rows) {
        countDroppedEvents(platform, listening.size)
        platform.log.error(batch, 'webhook events dropped, the event log no longer has their clicks')
        continue
      }
      yield* draftClicks(
        platform,
        rows.filter(({ bot, workspace_id }) => bot === '' && listening.has(workspace_id)),
      )
    }
  },
}

export async function* draftClicks(platform: Platform, clicks: NewClick[]): AsyncGenerator<WebhookDrafts> {
  for (const [workspaceId, mine] of Map.groupBy(clicks, (row) => row.workspace_id)) {
    const ctx = asSystem(platform, workspaceId)
    for (const part of chunks(mine, clicksAtOnce)) {
      const findLink = await loadEventLinks(ctx, part)
      const drafts = part.map((click) => draftClick(click, findLink(click)))
      yield { workspaceId, build: async () => drafts }
    }
  }
}

function draftClick(row: NewClick, link: Link): WebhookDraft {
  const createdAt = new Date(row.timestamp).toISOString()
  const data = { click: presentClickData(row, row.id_text, createdAt), link: { ...link, password: null } }
  return { event: { id: clickEventId(row.id_text), event: 'link.clicked', createdAt, data }, link, customerId: null }
}

/** The webhook event id of a click; the same each time the click is read from the log. */
export function clickEventId(clickId: string): string {
  return `evt_${createHash('sha256').update(clickId).digest('hex').slice(0, 32)}`
}
