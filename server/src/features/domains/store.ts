import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type DomainRow = {
  id: string
  workspace_id: string
  slug: string
  verified: boolean
  is_primary: boolean
  archived: boolean
  created_at: Date
}
type NewDomainRow = Pick<DomainRow, 'id' | 'workspace_id' | 'slug' | 'verified'>
type Tables = { domains: NewDomainRow & Partial<DomainRow> }

/** The first domain of a workspace becomes its primary one. Undefined when the name is taken. */
export async function insertDomain(db: Db, row: NewDomainRow): Promise<DomainRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('domains')
    .values({
      ...row,
      is_primary: sql<boolean>`NOT EXISTS (SELECT FROM domains WHERE workspace_id = ${row.workspace_id} AND is_primary)`,
    })
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returningAll()
    .executeTakeFirst()
  return inserted as DomainRow | undefined
}

export async function selectPrimaryDomain(db: Db, workspaceId: string): Promise<string | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .select('slug')
    .where('workspace_id', '=', workspaceId)
    .where('is_primary', '=', true)
    .executeTakeFirst()
  return row?.slug
}

export async function selectDomain(db: Db, workspaceId: string, slug: string): Promise<DomainRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('domains')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('slug', '=', slug)
    .executeTakeFirst()
  return row as DomainRow | undefined
}
