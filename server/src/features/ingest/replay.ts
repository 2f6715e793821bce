import { randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { eventStream } from '../../platform/nats.ts'
import { divide, judgeFailure } from '../../platform/refusal.ts'
import { restoreClicks } from '../event-storage/service.ts'
import { isRawClick } from '../redirect/messages.ts'
import { foldRareValues } from '../rollups/service.ts'
import { deletedWorkspaces } from '../workspaces/service.ts'
import { buildRows, buildStepContext, type LogMessage, splitMessages } from './batch.ts'
import { readSpan, type Span } from './read-log.ts'
import { begin, run, validationSteps } from './steps/pipeline.ts'
import type { ClickDraft } from './steps/step.ts'
import { selectCursors } from './store.ts'

/** Log messages read, clicks in them, and clicks added because ClickHouse had no row for them. */
export type Replayed = { messages: number; clicks: number; added: number }

/** Inserts clicks that the event log still has and ClickHouse lacks. */
export async function replayLog(platform: Platform, report: (share: number, text: string) => void): Promise<Replayed> {
  const total = { messages: 0, clicks: 0, added: 0 }
  const name = randomUUID()
  const spans = await storedSpans(platform)
  const totalMessages = spans.reduce((sum, span) => sum + spanLength(span), 0)
  let before = 0
  for (const span of spans) {
    for await (const messages of readSpan(platform, span)) {
      const [first, last] = [messages[0]?.sequence ?? 0, messages.at(-1)?.sequence ?? 0]
      const clicks = await dropErased(platform, readDrafts(platform, messages))
      total.messages += messages.length
      total.clicks += clicks.length
      total.added += await restoreOrDivide(platform, clicks, `${name}:${span.partition}:${first}`)
      report((before + last - span.first + 1) / totalMessages, `${total.clicks} clicks read, ${total.added} added`)
    }
    before += spanLength(span)
  }
  return total
}

type StoredDraft = { workspace_id: string; draft: ClickDraft }

/** The log still has clicks of deleted workspaces, whose data is erased. */
async function dropErased(platform: Platform, clicks: StoredDraft[]): Promise<StoredDraft[]> {
  const deleted = await deletedWorkspaces(
    platform,
    clicks.map((click) => click.workspace_id),
  )
  return deleted.size === 0 ? clicks : clicks.filter((click) => !deleted.has(click.workspace_id))
}

/** Inserts clicks; skips a click that ClickHouse or PostgreSQL refuses, because it already is a dead letter. */
async function restoreOrDivide(platform: Platform, clicks: StoredDraft[], batch: string): Promise<number> {
  try {
    const drafts = clicks.map(({ draft }) => draft)
    const rows = await buildRows(platform, drafts)
    await foldRareValues(platform, rows)
    return await restoreClicks(platform, rows, batch)
  } catch (error) {
    if (judgeFailure(error) !== 'refused') throw error
    if (clicks.length <= 1) return 0
    const [first, second] = divide(clicks)
    const added = await restoreOrDivide(platform, first, `${batch}:0`)
    return added + (await restoreOrDivide(platform, second, `${batch}:1`))
  }
}

/** Parses clicks of the log. Skips invalid clicks, which already are dead letters; repeats are found by stored rows. */
function readDrafts(platform: Platform, messages: LogMessage[]): StoredDraft[] {
  const context = buildStepContext(platform, () => false)
  return splitMessages(messages).flatMap(({ body }) => {
    const outcome = isRawClick(body) ? run(begin(body), validationSteps, context) : undefined
    return outcome && 'keep' in outcome ? [{ workspace_id: outcome.keep.event.workspaceId, draft: outcome.keep }] : []
  })
}

function spanLength({ first, last }: Span): number {
  return last - first + 1
}

/** Ranges of log messages up to each partition's cursor; workers store later messages. */
async function storedSpans(platform: Platform): Promise<Span[]> {
  const manager = await jetstreamManager(platform.nats)
  const cursors = new Map((await selectCursors(platform.db)).map(({ partition, sequence }) => [partition, sequence]))
  const spans: Span[] = []
  for (let partition = 0; partition < platform.config.EVENT_PARTITIONS; partition++) {
    const { state } = await manager.streams.info(eventStream(partition))
    const last = Math.min(cursors.get(partition) ?? 0, state.last_seq)
    if (state.messages > 0 && state.first_seq <= last) spans.push({ partition, first: state.first_seq, last })
  }
  return spans
}
