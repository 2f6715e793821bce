import type { StreamQuery } from '@tributary/contract/events'
import { sleep } from '../../platform/clock.ts'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { presentRows, withoutHidden } from './join.ts'
import { resolve } from './resolve.ts'
import { addSeen, emptySeen, forgetSeen, keepSeen, lateMs, type Seen } from './seen.ts'
import { type Mark, type Stored, selectMarks, selectStored, sumStored } from './store.ts'
import { buildWhere, type EventKind, type Where } from './where.ts'

const pollMs = 1_000
const heartbeatMs = 15_000
const rowsAtOnce = 200
const mostMarks = 100_000
const never = new Date('2200-01-01')

type Following = { ctx: Ctx; kind: EventKind; where: Where; seen: Seen }

/**
 * Streams new events from now on or after `lastEventId`, until `signal` aborts. The order is the insert order, not the
 * timestamp, so that late events are not missed.
 */
export async function followEvents(
  ctx: Ctx,
  query: StreamQuery,
  lastEventId: string,
  signal: AbortSignal,
): Promise<AsyncIterable<string>> {
  const kind = query.event
  const { period, filter } = await resolve(ctx, { ...query, interval: 'all', timezone: 'UTC' })
  const where = buildWhere(ctx.workspaceId, { ...period, to: never }, filter, kind)
  const cursor = lastEventId || query.cursor
  const seen = cursor ? await seenAt(ctx, kind, where, cursor) : await seenNow(ctx, kind, where)
  return follow({ ctx, kind, where, seen }, signal)
}

async function* follow(following: Following, signal: AbortSignal): AsyncGenerator<string> {
  yield `retry: 2000\nid: ${sealEventId(following)}\n\n`
  let sentAt = performance.now()
  while (!signal.aborted) {
    for await (const text of followNew(following)) {
      if (text === '') continue
      yield text
      sentAt = performance.now()
      if (signal.aborted) return
    }
    if (performance.now() - sentAt >= heartbeatMs) {
      yield `id: ${sealEventId(following)}\n: still here\n\n`
      sentAt = performance.now()
    }
    await sleep(pollMs, signal)
  }
}

async function* followNew(following: Following): AsyncGenerator<string> {
  const { ctx, kind, where, seen } = following
  const { count, marks, beyond } = await sumStored(ctx.clickhouse, kind, where, seen)
  if (count !== seen.marks.size || marks !== seen.sum) yield* late(following)
  for (let rows: Stored<EventKind>[], left = beyond > 0; left; left = rows.length === rowsAtOnce) {
    rows = await selectStored(ctx.clickhouse, kind, where, { position: seen.position }, rowsAtOnce)
    if (rows.length > 0) yield await sendRows(following, rows, false)
    forgetSeen(seen)
  }
}

/** Sends rows before the stream's position that became visible only after the stream had passed it. */
async function* late(following: Following): AsyncGenerator<string> {
  const { ctx, kind, where, seen } = following
  const { floor, position } = seen
  const stored = await selectMarks(ctx.clickhouse, kind, where, { floor, position, limit: mostMarks })
  const unseen = stored.map(({ mark }) => mark).filter((mark) => !seen.marks.has(mark))
  keepSeen(seen, new Set(stored.map(({ mark }) => mark)))
  while (unseen.length > 0) {
    const which = { floor, marks: unseen.splice(0, rowsAtOnce) }
    const rows = await selectStored(ctx.clickhouse, kind, where, which, rowsAtOnce)
    if (rows.length > 0) yield await sendRows(following, rows, true)
  }
}

async function sendRows(following: Following, rows: Stored<EventKind>[], isLate: boolean): Promise<string> {
  const readable = await withoutHidden(following.ctx, rows)
  const presented = await presentRows(following.ctx, readable)
  const events = new Map(readable.map((row, index) => [row, presented[index]]))
  let text = ''
  for (const row of rows) {
    const id = 'id_text' in row ? row.id_text : row.id
    addSeen(following.seen, { mark: row.mark, stored: Number(row.stored), at: Number(row.at), id }, isLate)
    const event = events.get(row)
    if (!event) continue
    text += `id: ${sealEventId(following)}\nevent: ${event.event}\ndata: ${JSON.stringify(event)}\n\n`
  }
  return text
}

function sealEventId({ ctx, kind, seen: { floor, position, marks, sum } }: Following): string {
  return writeCursor(ctx, 'stream', { kind, floor, ...position, count: marks.size, sum: String(sum) })
}

/** The initial state of a stream: rows that are visible now are not sent. */
async function seenNow(ctx: Ctx, kind: EventKind, where: Where): Promise<Seen> {
  const seen = emptySeen(ctx.now().getTime() - lateMs)
  const stored = await selectMarks(ctx.clickhouse, kind, where, { floor: seen.floor, limit: mostMarks })
  return remember(seen, stored)
}

/**
 * The state of a stream that continues at a cursor. If the rows before the cursor differ from those sent, it is unknown
 * which are new, so all rows inserted since `floor` are sent again.
 */
async function seenAt(ctx: Ctx, kind: EventKind, where: Where, cursor: string): Promise<Seen> {
  const given = readCursor(ctx, 'stream', cursor, '`Last-Event-ID`')
  if (given.kind !== kind) throw invalid(`\`Last-Event-ID\` belongs to \`event=${given.kind}\`. Send this parameter.`)
  const { floor, stored, at, id } = given
  const position = { stored, at, id }
  const { count, marks } = await sumStored(ctx.clickhouse, kind, where, { floor, position })
  if (count !== given.count || String(marks) !== given.sum) return emptySeen(floor)
  const seen = { ...emptySeen(floor), position }
  const shown = await selectMarks(ctx.clickhouse, kind, where, { floor, position, limit: mostMarks })
  return { ...remember(seen, shown), position }
}

function remember(seen: Seen, stored: Mark[]): Seen {
  for (const { mark, stored: moment, at, id_text } of stored.toReversed())
    addSeen(seen, { mark, stored: Number(moment), at: Number(at), id: id_text }, false)
  return seen
}
