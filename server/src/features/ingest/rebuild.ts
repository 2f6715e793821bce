import { randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import type { Platform } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { eventStream } from '../../platform/nats.ts'
import { divide, judgeFailure } from '../../platform/refusal.ts'
import { keepLinkAttributes, restoreClicks } from '../event-storage/service.ts'
import { linksAsTold } from '../links/service.ts'
import { rawClick } from '../redirect/messages.ts'
import { foldRareValues } from '../rollups/service.ts'
import { contextOf, type LogMessage, placesOf, rowsOf } from './batch.ts'
import { readSpan, type Span } from './read-log.ts'
import { reconcile } from './reconcile.ts'
import { reconcileRollups } from './reconcile-rollups.ts'
import { begin, judging, run } from './steps/pipeline.ts'
import type { ClickDraft } from './steps/step.ts'
import { selectPlaces, withRebuildLock } from './store.ts'

export type Rebuilt = {
  /** Messages of the log that were read, clicks in them, and those of them that had no row. */
  messages: number
  clicks: number
  added: number
  links: number
  /** Leads, sales and refunds of PostgreSQL that were read, and those of their rows that were missing. */
  conversions: number
  conversionsAdded: number
  /** Counters and rollups that were mended, and those that a batch under way kept from being mended. */
  mended: number
  unmended: number
}
/** Does the same for what is not in the log; after the clicks, which tell its places. */
type RestoreConversions = (
  report: Report,
) => Promise<Pick<Rebuilt, 'conversions' | 'conversionsAdded' | 'mended' | 'unmended'>>
type Report = (percent: number, text: string) => void

const linksAtOnce = 1_000

/**
 * Adds to ClickHouse what the log and PostgreSQL have and it has not. Nothing is deleted or changed there, so it can be
 * cut off and run again, and workers need not stop: they only add what comes after.
 */
export async function rebuild(
  platform: Platform,
  report: Report,
  restoreConversions: RestoreConversions,
): Promise<Rebuilt> {
  const rebuilt = await withRebuildLock(platform.db, async () => {
    const total = { messages: 0, clicks: 0, added: 0, links: 0, mended: 0, unmended: 0 }
    await restoreLog(platform, total, (share, text) => report(Math.floor(share * 60), text))
    await restoreLinks(platform, total, (text) => report(60, text))
    const restored = await restoreConversions((share, text) => report(60 + Math.floor(share * 25), text))
    await settle(platform, total, (share, text) => report(85 + Math.floor(share * 15), text))
    const mended = { mended: total.mended + restored.mended, unmended: total.unmended + restored.unmended }
    return { ...total, ...restored, ...mended }
  })
  if (!rebuilt) throw conflict('Another `tributary rebuild` is running. Wait for its end.')
  report(100, `${rebuilt.added} clicks added`)
  return rebuilt
}

type ClickTotals = Omit<Rebuilt, 'conversions' | 'conversionsAdded'>

async function restoreLog(platform: Platform, total: ClickTotals, report: Report): Promise<void> {
  const name = randomUUID()
  const spans = await storedSpans(platform)
  const wanted = spans.reduce((sum, span) => sum + sizeOf(span), 0)
  let before = 0
  for (const span of spans) {
    for await (const messages of readSpan(platform, span)) {
      const [first, last] = [messages[0]?.sequence ?? 0, messages.at(-1)?.sequence ?? 0]
      const clicks = keptClicks(platform, messages)
      total.messages += messages.length
      total.clicks += clicks.length
      total.added += await restoreOrDivide(platform, clicks, `${name}:${span.partition}:${first}`)
      report((before + last - span.first + 1) / wanted, `${total.clicks} clicks read, ${total.added} added`)
    }
    before += sizeOf(span)
  }
}

type Kept = { workspace_id: string; draft: ClickDraft }

/** Clicks that an engine refuses are left out: the worker that met them first has made them dead letters. */
async function restoreOrDivide(platform: Platform, clicks: Kept[], batch: string): Promise<number> {
  try {
    const drafts = clicks.map(({ draft }) => draft)
    const rows = await rowsOf(platform, drafts)
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

/** Repeats are told by what is stored: the first of an id stays. What was rejected is among the dead letters already. */
function keptClicks(platform: Platform, messages: LogMessage[]): Kept[] {
  const context = contextOf(platform, () => false)
  return placesOf(messages).flatMap(({ body }) => {
    const click = rawClick.safeParse(body)
    const outcome = click.success ? run(begin(click.data), judging, context) : undefined
    return outcome && 'keep' in outcome ? [{ workspace_id: outcome.keep.event.workspaceId, draft: outcome.keep }] : []
  })
}

/** What events are filtered by, for all links as they are now. */
export async function restoreLinks(
  platform: Pick<Platform, 'clickhouse' | 'db'>,
  total: Pick<ClickTotals, 'links'>,
  report: (text: string) => void,
): Promise<void> {
  let after = -1n
  for (;;) {
    const links = await linksAsTold(platform, after, linksAtOnce)
    await keepLinkAttributes(platform, links)
    total.links += links.length
    report(`${total.links} links`)
    if (links.length < linksAtOnce) return
    after = BigInt(links.at(-1)?.linkNumber ?? 0)
  }
}

/** An insert that was cut off may have left the rollups behind; and what nobody has a row of any more stays counted. */
async function settle(platform: Platform, total: ClickTotals, report: Report): Promise<void> {
  for await (const { findings, month, percent } of reconcileRollups(platform, { repair: true })) {
    for (const { repaired } of findings) total[repaired ? 'mended' : 'unmended'] += 1
    report(percent / 200, `rollups of ${month.slice(0, 7)}`)
  }
  for await (const { findings, percent } of reconcile(platform, { repair: 'keep' })) {
    for (const { repaired, counter, rows } of findings)
      if (counter !== null && counter !== rows) total[repaired ? 'mended' : 'unmended'] += 1
    report(0.5 + percent / 200, 'counters')
  }
}

function sizeOf({ first, last }: Span): number {
  return last - first + 1
}

/** The messages that the log still holds and that a worker has stored. Workers store what comes after. */
async function storedSpans(platform: Platform): Promise<Span[]> {
  const manager = await jetstreamManager(platform.nats)
  const places = new Map((await selectPlaces(platform.db)).map(({ partition, sequence }) => [partition, sequence]))
  const spans: Span[] = []
  for (let partition = 0; partition < platform.config.EVENT_PARTITIONS; partition++) {
    const { state } = await manager.streams.info(eventStream(partition))
    const last = Math.min(places.get(partition) ?? 0, state.last_seq)
    if (state.messages > 0 && state.first_seq <= last) spans.push({ partition, first: state.first_seq, last })
  }
  return spans
}
