import { z } from 'zod'
import { invalid } from '../../platform/errors.ts'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'

const kind = z.enum(['clicks', 'leads', 'sales'])
const listPosition = z.object({ kind, ascending: z.boolean(), from: z.number(), at: z.number(), id: z.string() })
const streamPosition = z.object({
  kind,
  floor: z.number(),
  stored: z.number(),
  at: z.number(),
  id: z.string(),
  count: z.number(),
  sum: z.string(),
})
const shapes = { list: listPosition, stream: streamPosition }

/** The cursor of an event list: a position, and the start of the period, which stays fixed from page to page. */
export type ListPosition = z.output<typeof listPosition>
/** The cursor of an event stream: a position, and the count and checksum of events sent since the time `floor`. */
export type StreamPosition = z.output<typeof streamPosition>
type Positions = { list: ListPosition; stream: StreamPosition }
type Sealing = { config: { ENCRYPTION_KEYS: SecretKeys }; workspaceId: string }

/** Encrypts a cursor, so that clients can neither read events older than their plan's history nor parse the cursor. */
export function writeCursor<Use extends keyof Positions>(
  { config, workspaceId }: Sealing,
  use: Use,
  position: Positions[Use],
) {
  return seal(config.ENCRYPTION_KEYS, purpose(use, workspaceId), JSON.stringify(position)).toString('base64url')
}

export function readCursor<Use extends keyof Positions>(
  { config, workspaceId }: Sealing,
  use: Use,
  text: string,
  where: string,
): Positions[Use] {
  try {
    const opened = unseal(config.ENCRYPTION_KEYS, purpose(use, workspaceId), Buffer.from(text, 'base64url'))
    return shapes[use].parse(JSON.parse(opened)) as Positions[Use]
  } catch {
    throw invalid(`${where} does not come from this ${use} or workspace. Pass the cursor back unchanged.`)
  }
}

type ListQuery = { event: ListPosition['kind']; page: number; cursor?: string }

/** The start position of an event list, and the function that writes the next page's cursor. */
export function openListCursor(sealing: Sealing, { event: kind, page, cursor }: ListQuery, ascending: boolean) {
  const next = (position: Omit<ListPosition, 'kind' | 'ascending'>) =>
    writeCursor(sealing, 'list', { kind, ascending, ...position })
  if (cursor === undefined) return { next }
  if (page !== 1) throw invalid("`page` in the query can't be used together with `cursor`.")
  const after = readCursor(sealing, 'list', cursor, '`cursor` in the query')
  if (after.kind === kind && after.ascending === ascending) return { after, next }
  const belongs = `\`event=${after.kind}\` and \`sortOrder=${after.ascending ? 'asc' : 'desc'}\``
  throw invalid(`\`cursor\` in the query belongs to ${belongs}. Send these parameters, or no cursor.`)
}

function purpose(use: string, workspaceId: string): string {
  return `events ${use} ${workspaceId}`
}
