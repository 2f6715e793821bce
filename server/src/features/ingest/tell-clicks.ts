import type { Platform } from '../../platform/context.ts'
import { partitionOf } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import type { NewClick } from '../events/service.ts'
import { type ClicksStored, clicksStoredMessage } from './messages.ts'

const mostClicks = 100
// A message of the log may have a million bytes.
const mostBytes = 500_000

export type Part = { name: string; body: ClicksStored }

/** Tells of the clicks of people in a batch to those workspaces that want to hear of them; a repeat is no harm. */
export async function tellClicks(
  { nats, config }: Pick<Platform, 'nats' | 'config'>,
  rows: NewClick[],
  workspaceIds: Set<string>,
  token: string,
): Promise<void> {
  if (workspaceIds.size === 0) return
  const stream = jetStream(nats)
  await Promise.all(
    partsOf(rows, workspaceIds).map(({ name, body }) => {
      const message = clicksStoredMessage(body, partitionOf(body.workspaceId, config.EVENT_PARTITIONS))
      return stream.publish(message.subject, JSON.stringify(message.body), { msgID: `clicks-${token}-${name}` })
    }),
  )
}

/**
 * The clicks of each workspace in messages that are not too large. The name of a message says which clicks of the batch
 * it holds: a worker that takes over and divides them otherwise does not give another message the same name.
 */
export function partsOf(rows: NewClick[], workspaceIds: Set<string>): Part[] {
  type Open = { first: number; last: number; bytes: number; body: ClicksStored }
  const open = new Map<string, Open>()
  const parts: Open[] = []
  for (const [position, row] of rows.entries()) {
    const { workspace_id: workspaceId } = row
    if (row.bot !== '' || !workspaceIds.has(workspaceId)) continue
    const click = clickOf(row)
    const bytes = Buffer.byteLength(JSON.stringify(click))
    let part = open.get(workspaceId)
    if (!part || part.body.clicks.length === mostClicks || part.bytes + bytes > mostBytes) {
      part = { first: position, last: position, bytes: 0, body: { workspaceId, clicks: [] } }
      open.set(workspaceId, part)
      parts.push(part)
    }
    part.last = position
    part.bytes += bytes
    part.body.clicks.push(click)
  }
  return parts.map(({ first, last, body }) => ({ name: `${body.workspaceId}-${first}-${last}`, body }))
}

function clickOf(row: NewClick): ClicksStored['clicks'][number] {
  return {
    timestamp: row.timestamp,
    id_text: row.id_text,
    link_number: row.link_number,
    url: row.url,
    trigger: row.trigger,
    ip: row.ip,
    country: row.country,
    region: row.region,
    city: row.city,
    continent: row.continent,
    device: row.device,
    browser: row.browser,
    os: row.os,
    referer: row.referer,
    referer_url: row.referer_url,
  }
}
