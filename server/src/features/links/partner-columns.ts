import type { LinkPatch } from '@tributary/contract/links'
import { type Actor, type Ctx, hasScope } from '../../platform/context.ts'
import { forbidden, invalid } from '../../platform/errors.ts'
import { findPartnersById } from '../partners/service.ts'
import { findProgram } from '../programs/service.ts'
import type { LinkColumns, LinkRow } from './store.ts'

type Named = Pick<LinkPatch, 'partnerId' | 'programId'>
export type KnownPartners = { programId: string | undefined; idsByName: Map<string, string> }

/** Reads the program and partners that links name. */
export async function readPartners(ctx: Ctx, inputs: Named[]): Promise<KnownPartners> {
  const isNamed = inputs.some((input) => input.partnerId || input.programId)
  if (!isNamed) return { programId: undefined, idsByName: new Map() }
  const program = await findProgram(ctx)
  const partners = await findPartnersById(
    ctx,
    inputs.flatMap((input) => input.partnerId || []),
  )
  return { programId: program?.id, idsByName: new Map([...partners].map(([name, { id }]) => [name, id])) }
}

/**
 * The columns of the link's partner and program. Throws when one does not exist or may not change, and 403 when the caller
 * may not choose who earns by the link.
 */
export function partnerColumns(
  { actor }: Pick<Ctx, 'actor'>,
  input: Named,
  { programId, idsByName }: KnownPartners,
  link?: LinkRow,
): Partial<LinkColumns> {
  const columns: Partial<LinkColumns> = {}
  if (input.programId !== undefined && (input.programId || null) !== (link?.program_id ?? null)) {
    if (input.programId && input.programId !== programId) throw missing('program', input.programId)
    columns.program_id = input.programId || null
  }
  if (input.partnerId !== undefined && (input.partnerId || null) !== (link?.partner_id ?? null)) {
    requirePartnerChoice(actor)
    const partnerId = input.partnerId ? idsByName.get(input.partnerId) : null
    if (partnerId === undefined) throw missing('partner', input.partnerId ?? '')
    if (link && (link.clicks > 0n || link.leads > 0n))
      throw invalid('`partnerId` in the body must stay as it is, because the link has clicks. Create another link.')
    columns.partner_id = partnerId
    if (partnerId) columns.program_id = programId ?? null
  }
  return columns
}

/** Throws 403 unless the caller may choose who earns by a link. Partners get links only of their own. */
export function requirePartnerChoice(actor: Actor): void {
  if (actor.kind === 'partner' || actor.kind === 'embed' || hasScope(actor, 'partners.write')) return
  throw forbidden('`partnerId` in the body needs the scope partners.write: what the link sells earns commissions.')
}

function missing(noun: 'program' | 'partner', id: string) {
  return invalid(`\`${noun}Id\` in the body names the ${noun} ${id}, which does not exist.`)
}
