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

/** A list's position and the start of its period, which does not move while it is read. */
export type ListPosition = z.output<typeof listPosition>
/** A stream's position, and the number and checksum of the events since `floor` that it has shown. */
export type StreamPosition = z.output<typeof streamPosition>
type Positions = { list: ListPosition; stream: StreamPosition }
type Sealing = { config: { ENCRYPTION_KEYS: SecretKeys }; workspaceId: string }

/** Sealed, so that clients can neither reach events beyond their plan's history nor depend on the format. */
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
    throw invalid(`${where} is not from an answer of this ${use} to this workspace. Pass the cursor back unchanged.`)
  }
}

type ListQuery = { event: ListPosition['kind']; page: number; cursor?: string }

/** A list's starting position, and the function that writes its next cursor. */
export function openListCursor(sealing: Sealing, { event: kind, page, cursor }: ListQuery, ascending: boolean) {
  const next = (position: Omit<ListPosition, 'kind' | 'ascending'>) =>
    writeCursor(sealing, 'list', { kind, ascending, ...position })
  if (cursor === undefined) return { next }
  if (page !== 1) throw invalid("`page` in the query can't be used together with `cursor`.")
  const after = readCursor(sealing, 'list', cursor, '`cursor` in the query')
  if (after.kind === kind && after.ascending === ascending) return { after, next }
  const belongs = `\`event=${after.kind}\` and \`sortOrder=${after.ascending ? 'asc' : 'desc'}\``
  throw invalid(`\`cursor\` in the query belongs to ${belongs}. Ask with these, or without the cursor.`)
}

function purpose(use: string, workspaceId: string): string {
  return `events ${use} ${workspaceId}`
}
