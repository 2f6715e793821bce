import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type PartnerStatus =
  | 'pending'
  | 'approved'
  | 'rejected'
  | 'invited'
  | 'declined'
  | 'deactivated'
  | 'banned'
  | 'archived'

export type PartnerRow = {
  number: bigint
  id: string
  workspace_id: string
  group_number: bigint
  is_pinned: boolean
  status: PartnerStatus
  /** Lower case; null after an erasure. */
  email: string | null
  tenant_id: string | null
  name: string
  username: string | null
  image: string | null
  country: string | null
  description: string | null
  company_name: string | null
  website: string | null
  youtube: string | null
  twitter: string | null
  linkedin: string | null
  instagram: string | null
  tiktok: string | null
  application_id: string | null
  application_form: { label: string; value: string | null }[] | null
  applied_at: Date | null
  email_confirmed_at: Date | null
  token_hash: Buffer | null
  token_expires_at: Date | null
  rejection_reason: string | null
  rejection_note: string | null
  reviewed_at: Date | null
  /** When a rejected applicant may apply again; Infinity for never. */
  reapply_at: Date | number | null
  flagged_reason: string | null
  banned_at: Date | null
  banned_reason: string | null
  merged_into: bigint | null
  created_at: Date
  updated_at: Date
}
export type PartnerChanges = Partial<Omit<PartnerRow, 'number' | 'id' | 'workspace_id'>>
export type NewPartnerRow = Pick<PartnerRow, 'id' | 'workspace_id' | 'group_number' | 'status' | 'email' | 'name'> &
  PartnerChanges
export type PartnerSelector = { id: string } | { tenantId: string } | { email: string }

type Tables = { partners: NewPartnerRow & { number?: bigint } }

/** Inserts a partner with empty totals. Undefined when another partner has its e-mail or tenant id. */
export async function insertPartner(db: Db, row: NewPartnerRow): Promise<PartnerRow | undefined> {
  const inserted = (await db
    .withTables<Tables>()
    .insertInto('partners')
    .values(jsonColumns(row))
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()) as PartnerRow | undefined
  if (!inserted) return undefined
  await sql`INSERT INTO partner_totals (partner_number, workspace_id)
    VALUES (${inserted.number}, ${row.workspace_id})`.execute(db)
  return inserted
}

/** Locks partners until the transaction ends, in ascending order. Returns their rows; merged partners are omitted. */
export async function lockPartnerRows(db: Db, workspaceId: string, numbers: bigint[]): Promise<PartnerRow[]> {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND merged_into IS NULL
    ORDER BY number FOR NO KEY UPDATE`.execute(db)
  return result.rows
}

/** Locks up to `count` partners of a group until the transaction ends, in ascending order. */
export async function lockPartnersOfGroup(db: Db, workspaceId: string, groupNumber: bigint, count: number) {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND group_number = ${groupNumber}
    ORDER BY number LIMIT ${count} FOR NO KEY UPDATE`.execute(db)
  return result.rows
}

export async function updateGroupOfPartners(db: Db, workspaceId: string, numbers: bigint[], groupNumber: bigint) {
  await sql`UPDATE partners SET group_number = ${groupNumber}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
}

/** Locks those of the partners that no other transaction has locked. */
export async function claimPartnerRows(db: AllWorkspacesDb, numbers: bigint[]): Promise<PartnerRow[]> {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE number = ANY(${numbers}::bigint[]) AND merged_into IS NULL
    ORDER BY number FOR NO KEY UPDATE SKIP LOCKED`.execute(db)
  return result.rows
}

export async function selectPartner(db: Db, workspaceId: string, by: PartnerSelector): Promise<PartnerRow | undefined> {
  if ('id' in by) return (await selectPartnersById(db, workspaceId, [by.id]))[0]
  const named = 'tenantId' in by ? sql`tenant_id = ${by.tenantId}` : sql`email = ${by.email}`
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND ${named} AND merged_into IS NULL`.execute(db)
  return result.rows[0]
}

/** Reads partners by id, with the id that was asked for: the id of a merged partner finds the partner it became. */
export async function selectPartnersById(
  db: Db,
  workspaceId: string,
  ids: string[],
): Promise<(PartnerRow & { asked: string })[]> {
  const result = await sql<PartnerRow & { asked: string }>`SELECT asked.id AS asked, p.* FROM partners asked
    JOIN partners p ON p.number = coalesce(asked.merged_into, asked.number)
    WHERE asked.workspace_id = ${workspaceId} AND asked.id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

/** The numbers of partners, by the ids that were asked for. */
export async function selectPartnerNumbers(
  db: AllWorkspacesDb,
  ids: string[],
): Promise<{ id: string; number: bigint }[]> {
  const result = await sql<{ id: string; number: bigint }>`
    SELECT id, coalesce(merged_into, number) AS number FROM partners WHERE id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

/** Reads partners by number, including merged ones. */
export async function selectPartnersByNumber(db: Db, workspaceId: string, numbers: bigint[]): Promise<PartnerRow[]> {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[])`.execute(db)
  return result.rows
}

export async function countPartners(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM partners WHERE workspace_id = ${workspaceId}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export type NewActivity = { partnerNumber: bigint; kind: string; actor: string; detail: object }

export async function insertActivities(db: Db, workspaceId: string, activities: NewActivity[]): Promise<void> {
  await sql`INSERT INTO partner_activities (workspace_id, partner_number, kind, actor, detail)
    SELECT ${workspaceId}, * FROM jsonb_to_recordset(${JSON.stringify(
      activities.map((activity) => ({ ...activity, partnerNumber: String(activity.partnerNumber) })),
    )}::jsonb) AS added ("partnerNumber" bigint, kind text, actor text, detail jsonb)`.execute(db)
}

/** Serializes the JSON column, because the driver would write a list as a PostgreSQL array. */
function jsonColumns<Columns extends PartnerChanges>(columns: Columns): Columns {
  const { application_form: form } = columns
  return form === undefined ? columns : { ...columns, application_form: form && JSON.stringify(form) }
}
