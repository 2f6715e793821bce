/** A row's hash, and the time when it was stored. */
export type SeenRow = { mark: string; stored: number; at: number; id: string }
type SeenPosition = { stored: number; at: number; id: string }

/** The rows stored after `floor` that a stream has shown, and its position. */
export type Seen = { floor: number; position: SeenPosition; marks: Map<string, number>; sum: bigint }

/** An insert can become visible this much later than the time stamped on its rows. */
export const lateMs = 60_000
const mostMarks = 50_000

export function emptySeen(floor: number): Seen {
  return { floor, position: { stored: floor, at: 0, id: '' }, marks: new Map(), sum: 0n }
}

/** `isLate` rows are before the position, which stays. */
export function addSeen(seen: Seen, { mark, stored, at, id }: SeenRow, isLate: boolean): void {
  if (seen.marks.has(mark)) return
  seen.marks.set(mark, stored)
  seen.sum ^= BigInt(mark)
  if (!isLate) seen.position = { stored, at, id }
}

/** Forgets rows that are no longer stored. */
export function keepSeen(seen: Seen, stored: Set<string>): void {
  for (const mark of seen.marks.keys()) if (!stored.has(mark)) drop(seen, mark)
}

/** Remembers only the rows needed to notice late ones. The floor stays below the position. */
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
