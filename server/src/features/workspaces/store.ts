import type { Plan } from '@tributary/contract/operation'
import type { Db } from '../../platform/postgres.ts'

export type WorkspaceRow = { id: string; name: string; slug: string; plan: Plan; created_at: Date }
type Tables = { workspaces: Omit<WorkspaceRow, 'created_at'> & { created_at?: Date } }

export async function insertWorkspace(
  db: Db,
  row: Omit<WorkspaceRow, 'created_at'>,
): Promise<WorkspaceRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('workspaces')
    .values(row)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as WorkspaceRow | undefined
}

// NOTE every workspace: this is the operator's list of them.
export async function selectWorkspaces(db: Db): Promise<WorkspaceRow[]> {
  const rows = await db.withTables<Tables>().selectFrom('workspaces').selectAll().orderBy('created_at').execute()
  return rows as WorkspaceRow[]
}

export async function selectWorkspace(db: Db, workspaceIdOrSlug: string): Promise<WorkspaceRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .selectAll()
    .where((is) => is.or([is('id', '=', workspaceIdOrSlug), is('slug', '=', workspaceIdOrSlug)]))
    .executeTakeFirst()
  return row as WorkspaceRow | undefined
}
