import { boundedSum } from '@tributary/contract/common'
import type { NewProgram, Program, ProgramPatch } from '@tributary/contract/programs'
import type { Ctx, Platform } from '../../platform/context.ts'
import { conflict, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { domainForLink } from '../domains/service.ts'
import { createDefaultGroup, noProgram } from '../groups/service.ts'
import { conversionSettings } from '../workspaces/service.ts'
import {
  insertProgram,
  type ProgramChanges,
  type ProgramRow,
  selectProgram,
  selectProgramWorkspace,
  updateProgramRow,
} from './store.ts'

export type ProgramRecord = ProgramRow

export async function listPrograms(ctx: Ctx, { page }: { page: number }): Promise<Program[]> {
  const row = page === 1 ? await selectProgram(ctx.db, ctx.workspaceId) : undefined
  return row ? [presentProgram(row)] : []
}

export async function getProgram(ctx: Ctx, id: string): Promise<Program> {
  return presentProgram(await requireProgramById(ctx, id))
}

/** Creates the program of the workspace and its default group. */
export async function createProgram(ctx: Ctx, input: NewProgram): Promise<Program> {
  const row = await transaction(ctx, async (ctx) => {
    const currency = input.currency ?? (await conversionSettings(ctx)).currency
    const named = { id: newId('prog'), workspace_id: ctx.workspaceId, name: input.name, currency }
    const program = await insertProgram(ctx.db, { ...(await programColumns(ctx, input)), ...named })
    if (!program) throw conflict('This workspace has a partner program already. Change it with PATCH /programs/{id}.')
    await createDefaultGroup(ctx)
    return program
  })
  return presentProgram(row)
}

export async function updateProgram(ctx: Ctx, id: string, patch: ProgramPatch): Promise<Program> {
  const row = await requireProgramById(ctx, id)
  const columns = Object.entries(await programColumns(ctx, patch)).filter(
    ([name, value]) => String(value) !== String(row[name as keyof ProgramRow]),
  )
  reportChange(ctx, { id, before: row, after: Object.fromEntries(columns) })
  if (columns.length === 0) return presentProgram(row)
  const changes: ProgramChanges = Object.fromEntries(columns)
  if ('terms_url' in changes) changes.terms_version = row.terms_version + 1
  const updated = await updateProgramRow(ctx.db, ctx.workspaceId, id, changes)
  if (!updated) throw notFound('program', id)
  return presentProgram(updated)
}

export async function findProgram(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<ProgramRecord | undefined> {
  return selectProgram(ctx.db, ctx.workspaceId)
}

/** Returns the program of the workspace; throws 404 when it has none. */
export async function requireProgram(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<ProgramRecord> {
  const row = await selectProgram(ctx.db, ctx.workspaceId)
  if (!row) throw noProgram()
  return row
}

/** Returns the workspace of a program, for applicants, who have no API key. */
export function findProgramWorkspace({ db }: Pick<Platform, 'db'>, id: string): Promise<string | undefined> {
  return selectProgramWorkspace(db, id)
}

async function requireProgramById(ctx: Ctx, id: string): Promise<ProgramRow> {
  const row = await selectProgram(ctx.db, ctx.workspaceId)
  if (row?.id !== id) throw notFound('program', id)
  return row
}

async function programColumns(ctx: Ctx, input: ProgramPatch): Promise<ProgramChanges> {
  const columns = {
    name: input.name,
    domain: input.domain ? await domainForLink(ctx, input.domain) : input.domain,
    url: input.url,
    min_payout_amount: input.minPayoutAmount === undefined ? undefined : BigInt(input.minPayoutAmount),
    payout_mode: input.payoutMode,
    support_email: input.supportEmail,
    terms_url: input.termsUrl,
    help_url: input.helpUrl,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

function presentProgram(row: ProgramRow): Program {
  return {
    id: row.id,
    name: row.name,
    domain: row.domain,
    url: row.url,
    currency: row.currency,
    minPayoutAmount: boundedSum(row.min_payout_amount),
    payoutMode: row.payout_mode,
    supportEmail: row.support_email,
    termsUrl: row.terms_url,
    termsVersion: row.terms_version,
    helpUrl: row.help_url,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
