import { chunksInTurns } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { clickKeys } from '../click-ids/service.ts'
import type { NewClick } from '../event-storage/service.ts'
import { countClicks } from '../links/service.ts'
import type { RawClick } from '../redirect/messages.ts'
import { findIpStorage, type IpStorage } from '../workspaces/service.ts'
import { createdAt } from './log/position.ts'
import { clickBatchMessage } from './messages.ts'
import { clickRow } from './row.ts'
import { enrich } from './steps/pipeline.ts'
import type { ClickDraft, ClickEvent, StepContext } from './steps/step.ts'
import { advanceCursor, type Holder, type Intent, limitPause } from './store.ts'

/** Another worker owns the partition now, so this worker must stop storing its clicks at once. */
export class PartitionLost extends Error {}

/** A message of the event log; `arrivedAt` is when the log received it, in Unix milliseconds. */
export type LogMessage = { sequence: number; body: unknown; arrivedAt?: number }
export type LoggedVisit = LogMessage & { index: number }

export function splitMessages(messages: LogMessage[]): LoggedVisit[] {
  return messages.flatMap(({ sequence, body, arrivedAt }) =>
    (Array.isArray(body) ? body : [body]).map((event, index) => ({ sequence, index, body: event, arrivedAt })),
  )
}

/**
 * Returns the log position at which a click was first seen, so that a retried click is not a repeat of itself. Sequence
 * numbers recur in a restored log, so its positions end with a suffix that is unique to the restore.
 */
export function visitId({ partition, stream = '' }: Holder, { sequence, index, body }: LoggedVisit): string {
  const { retriedVisit } = (body ?? {}) as Partial<RawClick>
  if (typeof retriedVisit === 'string') return retriedVisit
  const restore = stream.indexOf('+')
  return `${partition}:${sequence}:${index}${restore === -1 ? '' : stream.slice(restore)}`
}

export function buildStepContext(
  { config, geo }: Platform,
  isRepeat: StepContext['isRepeat'],
  storages = new Map<string, IpStorage>(),
): StepContext {
  return {
    clickKeys: clickKeys(config),
    isRepeat,
    locate: geo.lookup,
    isDataCentre: config.BOT_RANGES_FILE?.has ?? (() => false),
    isGeoCountryOnly: geo.source === 'built-in',
    findIpStorage: (workspaceId) => storages.get(workspaceId) ?? config.IP_STORAGE,
  }
}

export async function buildRows(platform: Platform, drafts: ClickDraft[]): Promise<NewClick[]> {
  const workspaces = drafts.map(({ event }) => event.workspaceId)
  const context = buildStepContext(platform, () => false, await findIpStorage(platform, workspaces))
  const rows: NewClick[] = []
  for await (const some of chunksInTurns(drafts, enrichedAtOnce))
    for (const draft of some) rows.push(clickRow(enrich(draft, context)))
  return rows
}

// A prepared URL of 32,000 characters takes some milliseconds.
const enrichedAtOnce = 100

/** Sums, per link, the clicks to add to the link counters; clicks by bots are not counted. */
export function sumClicks(events: Iterable<Pick<ClickEvent, 'linkNumber' | 'at' | 'bot'>>): Intent['counts'] {
  const counts = new Map<string, [number, number]>()
  for (const { linkNumber, at, bot } of events) {
    if (bot !== '') continue
    const sum = counts.get(linkNumber)
    if (!sum) {
      counts.set(linkNumber, [1, Math.max(0, at)])
      continue
    }
    sum[0] += 1
    sum[1] = Math.max(sum[1], at)
  }
  // All workers update link rows in the same order, so that two transactions never deadlock.
  return [...counts]
    .map(([linkNumber, [clicks, last]]): Intent['counts'][number] => [linkNumber, clicks, last])
    .sort(byLink)
}

function byLink([a]: [string, ...unknown[]], [b]: [string, ...unknown[]]): number {
  return a.length - b.length || (a < b ? -1 : 1)
}

/** Adds clicks to the link counters. Call it inside a transaction. */
export async function addCounts(platform: Platform, counts: Intent['counts']): Promise<void> {
  await limitPause(platform.db)
  if (counts.length === 0) return
  await countClicks(
    platform,
    counts.map(([linkNumber, clicks, at]) => ({
      linkNumber: BigInt(linkNumber),
      clicks,
      lastClicked: new Date(at),
    })),
  )
}

export type StoredBatch = Pick<Intent, 'counts' | 'first' | 'last' | 'excluded' | 'bots'> & {
  arrivedAt: number | null
  rows: Pick<NewClick, 'workspace_id' | 'bot'>[]
}

/** After ClickHouse has a batch: adds it to the link counters, advances the log cursor, and publishes an event. */
export async function commitBatch(
  platform: Platform,
  holder: Holder,
  before: number,
  { counts, arrivedAt, rows, first, last, excluded, bots }: StoredBatch,
): Promise<number> {
  const { partition, stream = '' } = holder
  const workspaceIds = workspacesWithPeople(rows)
  await transaction(platform, async (platform) => {
    await addCounts(platform, counts)
    if (!(await advanceCursor(platform.db, holder, before, last, arrivedAt))) throw new PartitionLost()
    if (workspaceIds?.length === 0) return
    const stored = { partition, stream: createdAt(stream), first, last, excluded, bots, workspaceIds }
    await publish({ db: platform.db, workspaceId: systemWorkspace }, clickBatchMessage(stored))
  })
  return last
}

// The outbox needs a workspace per message, but a batch has clicks of many workspaces.
const systemWorkspace = ''
const mostNamed = 1_000

/** Lists the workspaces with clicks by people; null when there are too many to list. */
function workspacesWithPeople(rows: Pick<NewClick, 'workspace_id' | 'bot'>[]): string[] | null {
  const ids = new Set<string>()
  for (const { workspace_id, bot } of rows) if (bot === '') ids.add(workspace_id)
  return ids.size > mostNamed ? null : [...ids]
}

export function lastArrival(messages: LogMessage[]): number | null {
  return messages.at(-1)?.arrivedAt ?? null
}

/**
 * The ClickHouse insert deduplication token of a batch. It has the stream's name, because a recreated log repeats
 * sequence numbers, and the intent's name if any, because a batch without already stored rows is another insert.
 */
export function deduplicationToken({ partition, stream = '' }: Holder, { first, last, name }: Intent): string {
  return [partition, ...(stream ? [stream] : []), first, last, ...(name ? [name] : [])].join(':')
}
