/** The stream's current state; `atCursor` is when the message at the cursor arrived, if the log still has it. */
export type StreamState = { created: string; last: number; atCursor: number | undefined }
/** How far a partition is stored; `arrivedAt` is when the log received that message. */
type Reached = { sequence: number; arrivedAt: number | null; intent?: { last: number } | null }

const sameMessageMs = 1

/** The creation time of the stream that a cursor names. */
export function createdAt(stream: string): string {
  return stream.replace(/\+.*$/s, '')
}

/** Whether the stream is older than the cursor: it ends before the cursor, or has another message there. */
export function isRewound({ sequence, intent, arrivedAt }: Reached, { last, atCursor }: StreamState): boolean {
  if (last < (intent?.last ?? sequence)) return true
  return arrivedAt !== null && atCursor !== undefined && Math.abs(atCursor - arrivedAt) > sameMessageMs
}
