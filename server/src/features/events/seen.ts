/** An event row that a stream has sent: `mark` is its hash, `stored` the time when it was inserted. */
export type SeenRow = { mark: string; stored: number; at: number; id: string }
type SeenPosition = { stored: number; at: number; id: string }

/** The state of an event stream: its position, and the rows inserted after the time `floor` that it has sent. */
export type Seen = { floor: number; position: SeenPosition; marks: Map<string, number>; sum: bigint }

/** An insert may become visible in ClickHouse this much later than the insert time in its rows. */
export const lateMs = 60_000
const mostMarks = 50_000

export function emptySeen(floor: number): Seen {
  return { floor, position: { stored: floor, at: 0, id: '' }, marks: new Map(), sum: 0n }
}

/** Adds a sent row. A late row (`isLate`) is before the stream's position and does not move it. */
export function addSeen(seen: Seen, { mark, stored, at, id }: SeenRow, isLate: boolean): void {
  if (seen.marks.has(mark)) return
  seen.marks.set(mark, stored)
  seen.sum ^= BigInt(mark)
  if (!isLate) seen.position = { stored, at, id }
}

/** Removes sent rows that are no longer in ClickHouse. */
export function keepSeen(seen: Seen, stored: Set<string>): void {
  for (const mark of seen.marks.keys()) if (!stored.has(mark)) drop(seen, mark)
}

/** Raises `floor` and drops older rows, keeping those needed to detect late rows. */
export function forgetSeen(seen: Seen): void {
  const floor = Math.min(Math.max(seen.position.stored - lateMs, tooMany(seen)), seen.position.stored - 1)
  if (floor <= seen.floor) return
  seen.floor = floor
  for (const [mark, stored] of seen.marks) if (stored <= floor) drop(seen, mark)
}

function tooMany({ marks, floor }: Seen): number {
  if (marks.size <= mostMarks) return floor
  return [...marks.values()].sort((one, other) => one - other)[marks.size - mostMarks / 2] ?? floor
}

function drop(seen: Seen, mark: string): void {
  seen.marks.delete(mark)
  seen.sum ^= BigInt(mark)
}
