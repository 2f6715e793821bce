/** A row by its hash, and when it was stored. */
export type SeenRow = { mark: string; stored: number; at: number; id: string }
type SeenPosition = { stored: number; at: number; id: string }

/** What a stream has shown of the rows that were stored after `floor`, and how far it is. */
export type Seen = { floor: number; position: SeenPosition; marks: Map<string, number>; sum: bigint }

/** An insert can become visible so much later than the time that it stamped on its rows. */
export const lateMs = 60_000
const mostMarks = 50_000

export function emptySeen(floor: number): Seen {
  return { floor, position: { stored: floor, at: 0, id: '' }, marks: new Map(), sum: 0n }
}

/** `isLate` rows belong before the place, which stays. */
export function addSeen(seen: Seen, { mark, stored, at, id }: SeenRow, isLate: boolean): void {
  if (seen.marks.has(mark)) return
  seen.marks.set(mark, stored)
  seen.sum ^= BigInt(mark)
  if (!isLate) seen.position = { stored, at, id }
}

/** Those that were shown and are no longer stored are not expected again. */
export function keepSeen(seen: Seen, stored: Set<string>): void {
  for (const mark of seen.marks.keys()) if (!stored.has(mark)) drop(seen, mark)
}

/** Remembers no more than is needed to notice what comes late. The floor stays below the place. */
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
