import type { Link } from '@tributary/contract/links'
import type { WebhookEvent } from '@tributary/contract/webhooks'
import { chunks } from '../../platform/batches.ts'
import { asSystem, type Platform } from '../../platform/context.ts'
import type { WebhookDraft, WebhookSource } from '../webhooks/service.ts'
import { type LinkChanged, linkChanged, linkChangedSubject } from './messages.ts'
import { linksByNumber } from './service.ts'

const linksAtOnce = 100

/** The source of the webhook events `link.created`, `link.updated` and `link.deleted`. */
export const linkWebhooks: WebhookSource<LinkChanged> = {
  name: 'webhooks-links',
  subject: linkChangedSubject,
  schema: linkChanged,
  async *read(platform, changes, findListening) {
    const published = changes.filter((change): change is Published => change.event !== undefined)
    for (const [workspaceId, mine] of Map.groupBy(published, (change) => change.workspaceId)) {
      const listening = await findListening(new Set(mine.map(({ event }) => event.type)), [workspaceId])
      if (listening.size === 0) continue
      for (const part of chunks(mine, linksAtOnce)) {
        const drafts = await buildDrafts(platform, workspaceId, part)
        yield { workspaceId, build: async () => drafts }
      }
    }
  },
}

type Published = LinkChanged & { event: NonNullable<LinkChanged['event']> }

async function buildDrafts(platform: Platform, workspaceId: string, changes: Published[]): Promise<WebhookDraft[]> {
  const large = changes.filter(({ event }) => !event.link).map(({ linkNumber }) => BigInt(linkNumber))
  const read = large.length > 0 ? await linksByNumber(asSystem(platform, workspaceId), large) : new Map<bigint, Link>()
  return changes.flatMap(({ event: { id, type, createdAt, link: published }, linkNumber }) => {
    const link = published ?? read.get(BigInt(linkNumber))
    const event = { id, event: type, createdAt, data: { ...link, password: null } } as WebhookEvent
    return link ? [{ event, link, customerId: null }] : []
  })
}
