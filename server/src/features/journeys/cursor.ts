import { z } from 'zod'
import type { Config } from '../../platform/config.ts'
import { invalid } from '../../platform/errors.ts'
import { seal, unseal } from '../../platform/seal.ts'
import type { Position } from './timeline.ts'

const shape = z.object({
  ascending: z.boolean(),
  at: z.number(),
  number: z.string().transform((text) => BigInt(text)),
  id: z.string(),
})
type Sealing = { config: Pick<Config, 'ENCRYPTION_KEYS'>; workspaceId: string }

/** Encrypts a cursor, so that clients don't parse it. */
export function writeCursor(
  { config, workspaceId }: Sealing,
  customerId: string,
  { position: { at, number, id }, ascending }: { position: Position; ascending: boolean },
): string {
  const text = JSON.stringify({ ascending, at, number: String(number), id })
  return seal(config.ENCRYPTION_KEYS, purpose(workspaceId, customerId), text).toString('base64url')
}

export function readCursor(
  { config, workspaceId }: Sealing,
  customerId: string,
  text: string,
  ascending: boolean,
): Position {
  const position = openCursor({ config, workspaceId }, customerId, text)
  if (!position) throw invalid('`cursor` in the query is not of this journey. Pass the cursor back unchanged.')
  if (position.ascending === ascending) return position
  const order = position.ascending ? 'asc' : 'desc'
  throw invalid(`\`cursor\` in the query belongs to \`sortOrder=${order}\`. Send this parameter, or no cursor.`)
}

function openCursor({ config, workspaceId }: Sealing, customerId: string, text: string) {
  try {
    const bytes = Buffer.from(text, 'base64url')
    return shape.parse(JSON.parse(unseal(config.ENCRYPTION_KEYS, purpose(workspaceId, customerId), bytes)))
  } catch {
    return undefined
  }
}

function purpose(workspaceId: string, customerId: string): string {
  return `journey ${workspaceId} ${customerId}`
}
