import type { Program } from '@tributary/contract/programs'
import { sql } from 'kysely'
import { type AllWorkspacesDb, type Db, updateById } from '../../platform/postgres.ts'

export type ProgramRow = {
  number: bigint
  id: string
  workspace_id: string
  name: string
  domain: string | null
  url: string | null
  currency: string
  min_payout_amount: bigint
  payout_mode: Program['payoutMode']
  support_email: string | null
  terms_url: string | null
  terms_version: number
  help_url: string | null
  created_at: Date
  updated_at: Date
}
export type NewProgramRow = Pick<ProgramRow, 'id' | 'workspace_id' | 'name' | 'currency'> & ProgramChanges
export type ProgramChanges = Partial<
  Omit<ProgramRow, 'number' | 'id' | 'workspace_id' | 'currency' | 'created_at' | 'updated_at'>
>

/** Inserts the program of a workspace. Undefined when it has one. */
export async function insertProgram(db: Db, row: NewProgramRow): Promise<ProgramRow | undefined> {
  const inserted = await db
    .withTables<{ programs: NewProgramRow }>()
    .insertInto('programs')
    .values(row)
    .onConflict((conflict) => conflict.column('workspace_id').doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as ProgramRow | undefined
}

export async function selectProgram(db: Db, workspaceId: string): Promise<ProgramRow | undefined> {
  const result = await sql<ProgramRow>`SELECT * FROM programs WHERE workspace_id = ${workspaceId}`.execute(db)
  return result.rows[0]
}

export async function selectProgramWorkspace(db: AllWorkspacesDb, id: string): Promise<string | undefined> {
  const result = await sql<{ workspace_id: string }>`SELECT workspace_id FROM programs WHERE id = ${id}`.execute(db)
  return result.rows[0]?.workspace_id
}

export function updateProgramRow(db: Db, workspaceId: string, id: string, changes: ProgramChanges) {
  return updateById<ProgramRow>(db, 'programs', workspaceId, id, changes)
}
