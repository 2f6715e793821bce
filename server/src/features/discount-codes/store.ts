import { CompiledQuery, sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'

export type CodeRow = {
  id: string
  workspace_id: string
  code: string
  partner_number: bigint
  link_number: bigint
  discount_number: bigint | null
  disabled_at: Date | null
  created_at: Date
}
type NewCodeRow = Pick<CodeRow, 'id' | 'workspace_id' | 'code' | 'partner_number' | 'link_number' | 'discount_number'>

export async function selectCodes(
  db: Db,
  workspaceId: string,
  filter: { partnerNumber?: bigint; discountNumber?: bigint },
  page: { ascending: boolean; offset: number; count: number },
): Promise<CodeRow[]> {
  const conditions = [sql`workspace_id = ${workspaceId}`]
  if (filter.partnerNumber !== undefined) conditions.push(sql`partner_number = ${filter.partnerNumber}`)
  if (filter.discountNumber !== undefined) conditions.push(sql`discount_number = ${filter.discountNumber}`)
  const direction = page.ascending ? sql`ASC` : sql`DESC`
  // Ids grow with time.
  const result = await sql<CodeRow>`SELECT * FROM discount_codes WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY id ${direction} LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows
}

export async function selectCodeOfLink(db: Db, workspaceId: string, linkNumber: bigint) {
  const result = await sql<CodeRow>`SELECT * FROM discount_codes
    WHERE workspace_id = ${workspaceId} AND link_number = ${linkNumber}`.execute(db)
  return result.rows[0]
}

type Sql<Part extends string> = (parts: Record<Part, string>) => string
/** Functions of other features that return SQL on their tables. */
export type CodeParts = {
  partnerIdSelection: Sql<'workspace' | 'number'>
  precedenceSelection: Sql<'workspace' | 'number'>
  partnerLinkCondition: Sql<'workspace' | 'number' | 'partnerId'>
}

/**
 * SQL that selects link, partner and precedence of an enabled code whose link is the partner's; `workspace` and `code`
 * are SQL, too. Case is ignored. A code is unique; with LIMIT, PostgreSQL looks it up for each sale by index.
 */
export function enabledCode(
  { workspace, code }: Record<'workspace' | 'code', string>,
  { partnerIdSelection, precedenceSelection, partnerLinkCondition }: CodeParts,
): string {
  return `SELECT c.link_number, partner.id AS partner_id,
      coalesce((${precedenceSelection({ workspace, number: 'c.discount_number' })}), false) AS wins
    FROM discount_codes c, LATERAL (${partnerIdSelection({ workspace, number: 'c.partner_number' })}) AS partner
    WHERE c.workspace_id = ${workspace} AND lower(c.code) = lower(${code}) AND c.disabled_at IS NULL
      AND ${partnerLinkCondition({ workspace, number: 'c.link_number', partnerId: 'partner.id' })}
    LIMIT 1`
}

export type AttributableCode = { linkNumber: bigint; partnerId: string; wins: boolean }

export async function selectEnabledCode(
  db: Db,
  workspaceId: string,
  code: string,
  parts: CodeParts,
): Promise<AttributableCode | undefined> {
  const text = enabledCode({ workspace: '$1', code: '$2' }, parts)
  const result = await db.executeQuery<{ link_number: bigint; partner_id: string; wins: boolean }>(
    CompiledQuery.raw(text, [workspaceId, code]),
  )
  const [row] = result.rows
  return row && { linkNumber: row.link_number, partnerId: row.partner_id, wins: row.wins }
}

/** Inserts a code. Undefined when it is taken, or its link has one. */
export async function insertCode(db: Db, row: NewCodeRow): Promise<CodeRow | undefined> {
  const result = await sql<CodeRow>`
    INSERT INTO discount_codes (id, workspace_id, code, partner_number, link_number, discount_number)
    VALUES (${row.id}, ${row.workspace_id}, ${row.code}, ${row.partner_number}, ${row.link_number},
      ${row.discount_number})
    ON CONFLICT DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Deletes a code by its id or, ignoring case, its text. Returns it. */
export async function deleteCode(db: Db, workspaceId: string, idOrCode: string): Promise<CodeRow | undefined> {
  const result = await sql<CodeRow>`DELETE FROM discount_codes WHERE workspace_id = ${workspaceId}
    AND id = (SELECT id FROM discount_codes
      WHERE workspace_id = ${workspaceId} AND (id = ${idOrCode} OR lower(code) = lower(${idOrCode}))
      ORDER BY id = ${idOrCode} DESC LIMIT 1)
    RETURNING *`.execute(db)
  return result.rows[0]
}

/** Disables the partner's enabled codes. */
export async function disableCodes(db: Db, workspaceId: string, partnerNumber: bigint, at: Date): Promise<void> {
  await sql`UPDATE discount_codes SET disabled_at = ${at}
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber} AND disabled_at IS NULL`.execute(db)
}

export async function enableCodes(db: Db, workspaceId: string, partnerNumber: bigint): Promise<void> {
  await sql`UPDATE discount_codes SET disabled_at = NULL
    WHERE workspace_id = ${workspaceId} AND partner_number = ${partnerNumber}`.execute(db)
}

export async function updateDiscountOfCodes(
  db: Db,
  workspaceId: string,
  partnerNumbers: bigint[],
  discountNumber: bigint | null,
): Promise<void> {
  await sql`UPDATE discount_codes SET discount_number = ${discountNumber}
    WHERE workspace_id = ${workspaceId} AND partner_number = ANY(${partnerNumbers}::bigint[])`.execute(db)
}

export async function moveCodes(
  db: Db,
  workspaceId: string,
  source: bigint,
  target: { partnerNumber: bigint; discountNumber: bigint | null },
): Promise<void> {
  await sql`UPDATE discount_codes
    SET partner_number = ${target.partnerNumber}, discount_number = ${target.discountNumber}
    WHERE workspace_id = ${workspaceId} AND partner_number = ${source}`.execute(db)
}
