import { chunks } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { linksByNumber } from '../links/service.ts'
import { summarizeEarners } from '../partners/service.ts'
import type { WebhookDraft, WebhookSource } from '../webhooks/service.ts'
import { selectCommissionsById } from './list-store.ts'
import { parseCommissionId } from './locked.ts'
import { type CommissionEvent, type CommissionsChanged, commissionsChanged, commissionsSubject } from './messages.ts'
import { presentCommissions } from './present.ts'

const eventsAtOnce = 100
// Only webhooks for the whole workspace get commissions that belong to no link.
const noLink = { folderId: null, webhookIds: [] }

/** The source of the webhook events `commission.created` and `commission.updated`. */
export const commissionWebhooks: WebhookSource<CommissionsChanged> = {
  name: 'webhooks-commissions',
  subject: commissionsSubject,
  schema: commissionsChanged,
  async *read(_platform, changes, findListening) {
    for (const [workspaceId, mine] of Map.groupBy(changes, (change) => change.workspaceId)) {
      for (const part of chunks(await withListeners(workspaceId, mine, findListening), eventsAtOnce))
        yield { workspaceId, build: (ctx) => buildDrafts(ctx, part) }
    }
  },
}

/** The events that the workspace has a webhook for. */
async function withListeners(
  workspaceId: string,
  changes: CommissionsChanged[],
  findListening: Parameters<typeof commissionWebhooks.read>[2],
): Promise<CommissionEvent[]> {
  const heard: CommissionEvent[] = []
  for (const [trigger, events] of Map.groupBy(
    changes.flatMap((change) => change.events),
    ({ event }) => event,
  )) {
    const listening = await findListening(new Set([trigger]), [workspaceId])
    if (listening.size > 0) heard.push(...events)
  }
  return heard
}

/** Reads the commissions in the transaction that stores the events, which locks the customers against erasure. */
async function buildDrafts(ctx: Ctx, events: CommissionEvent[]): Promise<WebhookDraft[]> {
  const uuids = new Map(events.map(({ commissionId }) => [commissionId, parseCommissionId(commissionId)]))
  const rows = await selectCommissionsById(
    ctx.db,
    ctx.workspaceId,
    [...uuids.values()].filter((uuid) => uuid !== undefined),
  )
  const byId = new Map(rows.map((row) => [`cm_${row.id}`, row]))
  const shown = new Map((await presentCommissions(ctx, rows)).map((commission) => [commission.id, commission]))
  const numbers = rows.map(({ partner_number }) => partner_number)
  const partners = await summarizeEarners(ctx, numbers)
  const links = await linksByNumber(
    ctx,
    rows.flatMap(({ link_number }) => link_number ?? []),
  )
  return events.flatMap(({ id, event, createdAt, commissionId }): WebhookDraft[] => {
    const [row, commission] = [byId.get(commissionId), shown.get(commissionId)]
    const partner = row && partners.get(row.partner_number)
    if (!row || !commission || !partner) return []
    const { paidAt: _paidAt, ...fields } = commission
    const link = row.link_number === null ? undefined : links.get(row.link_number)
    const named = link ? { id: link.id, shortLink: link.shortLink, domain: link.domain, key: link.key } : null
    const data = { ...fields, partner, link: named }
    return [{ event: { id, event, createdAt, data }, link: link ?? noLink, customerId: row.customer_id }]
  })
}
