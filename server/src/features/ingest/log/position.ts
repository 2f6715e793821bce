/** The event stream's current state; `atCursor` is when the message at the cursor arrived, if the log still has it. */
export type StreamState = { created: string; last: number; atCursor: number | undefined }
/** The last stored message of a partition; `arrivedAt` is when the log received it. */
type Reached = { sequence: number; arrivedAt: number | null; intent?: { last: number } | null }

const sameMessageMs = 1

/** The creation time of a cursor's stream, without the suffix of a restored log. */
export function createdAt(stream: string): string {
  return stream.replace(/\+.*$/s, '')
}

/** Whether the event log was restored to an older state: it ends before the cursor, or has another message there. */
export function isRewound({ sequence, intent, arrivedAt }: Reached, { last, atCursor }: StreamState): boolean {
  if (last < (intent?.last ?? sequence)) return true
  return arrivedAt !== null && atCursor !== undefined && Math.abs(atCursor - arrivedAt) > sameMessageMs
}
