import { sql } from 'kysely'
import type { AllWorkspacesDb } from '../../platform/postgres.ts'

export type AttributesRow = {
  number: bigint
  workspace_id: string
  id: string
  group_number: bigint
  is_merged: boolean
  tag_ids: string[]
}
export type AttributesRange = { workspaceId?: string; after: bigint; count: number } | { ids: string[] }

/** The group and tags of partners after a number, or with the given ids. */
export async function selectAttributes(db: AllWorkspacesDb, range: AttributesRange): Promise<AttributesRow[]> {
  const mine = 'workspaceId' in range && range.workspaceId ? sql`p.workspace_id = ${range.workspaceId}` : sql`true`
  const named = 'ids' in range ? sql`p.id = ANY(${range.ids}::text[])` : sql`p.number > ${range.after} AND ${mine}`
  const result = await sql<AttributesRow>`SELECT p.number, p.workspace_id, p.id, p.group_number,
      p.merged_into IS NOT NULL AS is_merged,
      array(SELECT a.tag_id FROM partner_tag_assignments a WHERE a.partner_number = p.number ORDER BY 1) AS tag_ids
    FROM partners p WHERE ${named} ORDER BY p.number ${'count' in range ? sql`LIMIT ${range.count}` : sql``}`.execute(
    db,
  )
  return result.rows
}
