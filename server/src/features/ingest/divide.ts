import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { describeFailure, judgeFailure } from '../../platform/refusal.ts'
import type { RawClick } from '../redirect/messages.ts'
import { appendMissingClicks, foldRareValues, removeClicks } from '../rollups/service.ts'
import {
  addCounts,
  buildRows,
  commitBatch,
  deduplicationToken,
  type LoggedVisit,
  type LogMessage,
  lastArrival,
  PartitionLost,
  type StoredBatch,
  splitMessages,
  sumClicks,
  visitId,
} from './batch.ts'
import { buryEvents } from './dead-letters.ts'
import { ingestMetrics } from './metrics.ts'
import { type ClickDraft, startDraft } from './steps/step.ts'
import { type Division, type Holder, type Intent, updateIntent } from './store.ts'

/** An event of a batch that is stored, not dropped; `position` is its index among all events of the batch. */
export type BatchEvent = { position: number; visit: LoggedVisit; draft: ClickDraft }
type Part = Division['parts'][number]

// When attempts fail for an unknown reason or kill the worker: after this many, the batch is divided;
export const mostAttempts = 4
// after this many, a part with a single event becomes a dead letter. More, because the cause may not be the event.
const mostAttemptsAlone = 8
/** After this many attempts, a refused part of one workspace becomes dead letters as a whole, because others wait. */
export const mostTries = 300
// The worker sets `stored_at` of click rows, and its clock may be behind the log's clock by this much.
const skewMs = 60_000

/** The events of a batch that are stored, in log order; the batch's intent says which are dropped or by bots. */
export function selectEvents(intent: Pick<Intent, 'excluded' | 'bots'>, messages: LogMessage[]): BatchEvent[] {
  const excluded = new Set(intent.excluded)
  const bots = new Map(
    intent.bots.flatMap(([reason, positions]) => positions.map((position) => [position, reason] as const)),
  )
  return splitMessages(messages).flatMap((visit, position) => {
    if (excluded.has(position)) return []
    const draft = startDraft(visit.body as RawClick)
    draft.event.bot = bots.get(position) ?? ''
    return [{ position, visit, draft }]
  })
}

/**
 * Stores a batch that ClickHouse or PostgreSQL refused: divides it until each refused event is alone. Refused events
 * become dead letters and are neither stored nor counted. The intent records the division, so a worker that takes over
 * continues where the previous one stopped. `reason` says why the whole batch was refused.
 */
export async function storeInParts(
  platform: Platform,
  holder: Holder,
  before: number,
  batch: { intent: Intent; messages: LogMessage[] },
  reason?: string,
): Promise<number> {
  const events = selectEvents(batch.intent, batch.messages).sort(byOwner)
  const whole: Part = [0, events.length]
  const parts = events.length > 0 ? [whole] : []
  const division = batch.intent.division ?? { parts, attempts: 0, tries: 0, refused: [] }
  const intent = { ...batch.intent, division }
  const work: Work = { platform, holder, before, intent, events, division }
  if (reason && parts.length > 0 && !batch.intent.division) await refuse(work, whole, reason)
  await storeParts(work)
  const letters = findRefused(work)
  await removeRows(platform, letters)
  await buryEvents(
    platform,
    holder,
    letters.map(({ reason, visit }) => ({ reason, logged: visit, visit: visitId(holder, visit) })),
  )
  const last = await commitBatch(platform, holder, before, describeStored(work, batch.messages)).catch(
    async (error) => {
      if (judgeFailure(error) === 'refused') await startAgain(work)
      throw error
    },
  )
  if (letters.length > 0) {
    const { partition } = holder
    const reasons = Object.fromEntries(division.refused.map(([reason, { length }]) => [reason, length]))
    ingestMetrics(platform).ingested.inc({ outcome: 'rejected', reason: 'refused' }, letters.length)
    platform.log.error(
      { partition, clicks: letters.length, reasons },
      'clicks that could not be stored became dead letters',
    )
  }
  return last
}

function describeStored(work: Work, messages: LogMessage[]): StoredBatch {
  const { intent, division } = work
  const events = stored(work).map(({ draft }) => draft.event)
  return {
    ...intent,
    excluded: [...intent.excluded, ...refusedPositions(division)],
    counts: sumClicks(events),
    arrivedAt: lastArrival(messages),
    rows: events.map(({ workspaceId, bot }) => ({ workspace_id: workspaceId, bot })),
  }
}

type Work = {
  platform: Platform
  holder: Holder
  before: number
  intent: Intent
  /** The batch's events to store, sorted by workspace, link and position; `parts` are index ranges of this list. */
  events: BatchEvent[]
  division: Division
}

async function storeParts(work: Work): Promise<void> {
  const { division } = work
  for (let part = division.parts[0]; part; part = division.parts[0]) {
    if (division.attempts >= (isAlone(part) ? mostAttemptsAlone : mostAttempts)) {
      await refuse(work, part, `Storing this event failed or stopped the worker ${division.attempts} times`)
      continue
    }
    division.attempts += 1
    division.tries += 1
    // The attempt count is saved before the attempt, so that an attempt that kills the worker is counted.
    await save(work)
    try {
      await storePart(work, part)
      division.parts.shift()
      division.attempts = 0
    } catch (error) {
      await giveUpOrRefuse(work, part, error)
    }
  }
  await save(work)
}

async function giveUpOrRefuse(work: Work, part: Part, error: unknown): Promise<void> {
  const { division, platform, holder } = work
  const failure = judgeFailure(error)
  if (failure === 'unavailable') {
    division.attempts -= 1
    await save(work).catch(() => {})
  }
  if (failure !== 'refused') throw error
  platform.log.warn({ error, partition: holder.partition, clicks: part[1] - part[0] }, 'part of a click batch refused')
  await refuse(work, part, describeFailure(error), division.tries >= mostTries)
}

/** Inserts a part's missing rows. Only tests the counter update: all parts are counted at once in the end. */
async function storePart(work: Work, part: Part): Promise<void> {
  const { platform, intent, events } = work
  const mine = events.slice(...part)
  const rows = await buildRows(
    platform,
    mine.map(({ draft }) => draft),
  )
  // Tested before the insert, because rows of an event that PostgreSQL refuses would have to be removed again.
  await rehearseCounts(platform, [...stored(work), ...mine])
  const known = new Set(intent.stored)
  const missing = rows.filter((_, index) => !known.has(mine[index]?.position as number))
  const token = partToken(work, part)
  await foldRareValues(platform, missing)
  await appendMissingClicks(platform, missing, token)
}

/** The first part has the batch's deduplication token, so ClickHouse ignores a delayed insert of the whole batch. */
function partToken({ holder, intent }: Work, [from, to]: Part): string {
  const token = deduplicationToken(holder, intent)
  return from === 0 ? token : `${token}:${from}-${to}`
}

async function rehearseCounts(platform: Platform, events: BatchEvent[]): Promise<void> {
  const undo = new Error('undo')
  await transaction(platform, async (platform) => {
    await addCounts(platform, sumClicks(events.map(({ draft }) => draft.event)))
    throw undo
  }).catch((error) => {
    if (error !== undo) throw error
  })
}

/** Divides a refused part; turns it into dead letters when it has one event or, with `together`, one workspace. */
async function refuse(work: Work, part: Part, reason: string, together = false): Promise<void> {
  const { division, events } = work
  const [from, to] = part
  const isOneWorkspace = workspaceAt(events, from) === workspaceAt(events, to - 1)
  if (isAlone(part) || (together && isOneWorkspace)) {
    const refused = events.slice(from, to)
    // PostgreSQL refuses ill-formed Unicode and NUL in JSON.
    const text = reason.toWellFormed().replaceAll('\0', '')
    division.refused.push([text, refused.map(({ position }) => position)])
    division.parts.shift()
  } else {
    const middle = findMiddle(events, part)
    division.parts.splice(0, 1, [from, middle], [middle, to])
  }
  division.attempts = 0
  await save(work)
}

/** Removes rows of refused events in one deletion, because deletions are expensive in ClickHouse. */
async function removeRows(platform: Platform, refused: BatchEvent[]): Promise<void> {
  await removeClicks(
    platform,
    refused.map(({ draft: { event }, visit: { arrivedAt = 0 } }) => ({
      workspaceId: event.workspaceId,
      id: event.id,
      at: event.at,
      isBot: event.bot !== '',
      since: Math.max(0, arrivedAt - skewMs),
    })),
  )
}

/** Where to divide a part: between two workspaces, else between two links, as near to its middle as possible. */
function findMiddle(events: BatchEvent[], [from, to]: Part): number {
  const middle = Math.floor((from + to) / 2)
  for (const column of ['workspaceId', 'linkNumber'] as const) {
    let nearest = from
    for (let index = from + 1; index < to; index++) {
      const isBorder = events[index]?.draft.event[column] !== events[index - 1]?.draft.event[column]
      if (isBorder && (nearest === from || Math.abs(index - middle) < Math.abs(nearest - middle))) nearest = index
    }
    if (nearest > from) return nearest
  }
  return middle
}

/** Restarts the division after link counters changed since they were tested; refused events stay refused. */
async function startAgain(work: Work): Promise<void> {
  const { division, events } = work
  const refused = refusedPositions(division)
  division.parts = []
  for (const [index, { position }] of events.entries()) {
    const open = division.parts.at(-1)
    if (refused.has(position)) continue
    if (open?.[1] === index) open[1] = index + 1
    else division.parts.push([index, index + 1])
  }
  await save(work)
}

async function save({ platform, holder, before, intent }: Work): Promise<void> {
  if (!(await updateIntent(platform.db, holder, before, intent))) throw new PartitionLost()
}

/** Events of a divided batch whose parts are stored already. */
function stored({ division, events }: Work): BatchEvent[] {
  const refused = refusedPositions(division)
  const isPending = (index: number) => division.parts.some(([from, to]) => index >= from && index < to)
  return events.filter(({ position }, index) => !refused.has(position) && !isPending(index))
}

function findRefused({ division, events }: Work): (BatchEvent & { reason: string })[] {
  const reasons = new Map(division.refused.flatMap(([reason, mine]) => mine.map((position) => [position, reason])))
  return events.flatMap((event) => {
    const reason = reasons.get(event.position)
    return reason === undefined ? [] : [{ ...event, reason }]
  })
}

function refusedPositions(division: Division): Set<number> {
  return new Set(division.refused.flatMap(([, positions]) => positions))
}

function isAlone([from, to]: Part): boolean {
  return to - from === 1
}

function workspaceAt(events: BatchEvent[], index: number): string | undefined {
  return events[index]?.draft.event.workspaceId
}

function byOwner({ draft: { event: a }, ...one }: BatchEvent, { draft: { event: b }, ...other }: BatchEvent): number {
  if (a.workspaceId !== b.workspaceId) return a.workspaceId < b.workspaceId ? -1 : 1
  if (a.linkNumber !== b.linkNumber) return a.linkNumber < b.linkNumber ? -1 : 1
  return one.position - other.position
}
