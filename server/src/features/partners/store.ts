import { partnerStatuses } from '@tributary/contract/partners'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type PartnerStatus = (typeof partnerStatuses)[number]

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
export type PartnerSelector = { id: string } | { tenantId: string }

type Tables = {
  partners: NewPartnerRow & { number?: bigint }
  partner_totals: { partner_number: bigint; workspace_id: string }
  partner_activities: { workspace_id: string; partner_number: bigint; kind: string; actor: string }
}

/** Inserts a partner with empty totals and an activity. Undefined when another one has its e-mail or tenant id. */
export async function insertPartner(db: Db, row: NewPartnerRow, actor: string): Promise<PartnerRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .with('added', (query) =>
      query
        .insertInto('partners')
        .values(jsonColumns(row))
        .onConflict((conflict) => conflict.doNothing())
        .returningAll(),
    )
    .with('totals', (query) =>
      query
        .insertInto('partner_totals')
        .columns(['partner_number', 'workspace_id'])
        .expression((part) => part.selectFrom('added').select([sql<bigint>`number`.as('number'), 'workspace_id'])),
    )
    .with('activity', (query) =>
      query
        .insertInto('partner_activities')
        .columns(['workspace_id', 'partner_number', 'kind', 'actor'])
        .expression((part) =>
          part
            .selectFrom('added')
            .select([
              'workspace_id',
              sql<bigint>`number`.as('number'),
              'status',
              sql<string>`${actor}::text`.as('actor'),
            ]),
        ),
    )
    .selectFrom('added')
    .selectAll()
    .executeTakeFirst()
  return inserted as PartnerRow | undefined
}

/** The SQL condition that a partner, if any, exists; locks its row against deletion until the transaction ends. */
export function existingPartner({ workspace, id }: Record<'workspace' | 'id', string>): string {
  return `(${id} IS NULL OR EXISTS (SELECT FROM partners p
    WHERE p.workspace_id = ${workspace} AND p.id = ${id} AND p.merged_into IS NULL
      AND (p.status <> 'pending' OR p.applied_at IS NOT NULL) FOR KEY SHARE))`
}

/** SQL that selects the id of a partner by number; the arguments are SQL. */
export function idSelection({ workspace, number }: Record<'workspace' | 'number', string>): string {
  return `SELECT p.id FROM partners p WHERE p.workspace_id = ${workspace} AND p.number = ${number}`
}

/**
 * Updates a partner whose status is one of `from`; undefined when it has another. May violate the unique indexes
 * `partners_email` and `partners_tenant`.
 */
export async function updatePartner(
  db: Db,
  workspaceId: string,
  number: bigint,
  changes: PartnerChanges,
  from: readonly PartnerStatus[] = partnerStatuses,
): Promise<PartnerRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('partners')
    .set({ ...jsonColumns(changes), updated_at: sql<Date>`now()` })
    .where('workspace_id', '=', workspaceId)
    .where('number', '=', number)
    .where('status', 'in', from)
    .where('merged_into', 'is', null)
    .returningAll()
    .executeTakeFirst()
  return row as PartnerRow | undefined
}

/** Locks partners until the transaction ends, in ascending order. Returns their rows; merged partners are omitted. */
export async function lockPartnerRows(db: Db, workspaceId: string, numbers: bigint[]): Promise<PartnerRow[]> {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND merged_into IS NULL
    ORDER BY number FOR NO KEY UPDATE`.execute(db)
  return result.rows
}

/** Locks many partners, in ascending order, without reading their texts: an application may have 60 kB. */
export async function lockPartnerStates(db: Db, workspaceId: string, numbers: bigint[]): Promise<ClaimedPartnerRow[]> {
  const result = await sql<ClaimedPartnerRow>`SELECT ${claimedColumns} FROM partners
    WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) AND merged_into IS NULL
    ORDER BY number FOR NO KEY UPDATE`.execute(db)
  return result.rows
}

/** Locks up to `count` partners of a group until the transaction ends, in ascending order. */
export async function lockPartnersOfGroup(db: Db, workspaceId: string, groupNumber: bigint, count: number) {
  const result = await sql<ClaimedPartnerRow>`SELECT ${claimedColumns} FROM partners
    WHERE workspace_id = ${workspaceId} AND group_number = ${groupNumber}
    ORDER BY number LIMIT ${count} FOR NO KEY UPDATE`.execute(db)
  return result.rows
}

export type GroupMove = { partnerNumber: bigint; groupNumber: bigint }

export async function updateGroups(db: Db, workspaceId: string, moves: GroupMove[]): Promise<void> {
  await sql`UPDATE partners p SET group_number = moved.to_group, updated_at = now()
    FROM unnest(${moves.map(({ partnerNumber }) => partnerNumber)}::bigint[],
      ${moves.map(({ groupNumber }) => groupNumber)}::bigint[]) AS moved (number, to_group)
    WHERE p.workspace_id = ${workspaceId} AND p.number = moved.number`.execute(db)
}

export type ClaimedPartnerRow = Pick<
  PartnerRow,
  'number' | 'id' | 'group_number' | 'is_pinned' | 'status' | 'country' | 'email'
>
export const claimedColumns = sql`number, id, group_number, is_pinned, status, country, email`

/** Locks those of the partners that no other transaction has locked. */
export async function claimPartnerRows(db: AllWorkspacesDb, numbers: bigint[]): Promise<ClaimedPartnerRow[]> {
  const result = await sql<ClaimedPartnerRow>`SELECT ${claimedColumns}
    FROM partners WHERE number = ANY(${numbers}::bigint[]) AND merged_into IS NULL
    ORDER BY number FOR NO KEY UPDATE SKIP LOCKED`.execute(db)
  return result.rows
}

export async function selectPartner(db: Db, workspaceId: string, by: PartnerSelector): Promise<PartnerRow | undefined> {
  if ('id' in by) return selectPartnerById(db, workspaceId, by.id)
  const result = await sql<PartnerRow>`SELECT * FROM partners WHERE workspace_id = ${workspaceId}
    AND tenant_id = ${by.tenantId} AND merged_into IS NULL AND (status <> 'pending' OR applied_at IS NOT NULL)`.execute(
    db,
  )
  return result.rows[0]
}

/** Finds a partner by e-mail address, also one whose application is not confirmed. */
export async function selectPartnerByEmail(db: Db, workspaceId: string, email: string) {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE workspace_id = ${workspaceId} AND email = ${email} AND merged_into IS NULL`.execute(db)
  return result.rows[0]
}

export async function selectPartnerByToken(db: AllWorkspacesDb, tokenHash: Buffer): Promise<PartnerRow | undefined> {
  const result = await sql<PartnerRow>`SELECT * FROM partners
    WHERE token_hash = ${tokenHash} AND merged_into IS NULL`.execute(db)
  return result.rows[0]
}

/** How many applications have an unconfirmed e-mail address, counted up to `most`. */
export async function countUnconfirmedRows(db: Db, workspaceId: string, most: number): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM (SELECT FROM partners
    WHERE workspace_id = ${workspaceId} AND status = 'pending' AND email_confirmed_at IS NULL
    LIMIT ${most}) AS unconfirmed`.execute(db)
  return Number(result.rows[0]?.count)
}

/** Deletes applications that were not confirmed before their code expired. */
export async function deleteUnconfirmedRows(db: AllWorkspacesDb, now: Date, count: number) {
  const found = await sql<{ number: bigint; workspace_id: string }>`SELECT number, workspace_id FROM partners
    WHERE token_hash IS NOT NULL AND token_expires_at < ${now} AND status = 'pending' AND applied_at IS NULL
    ORDER BY number LIMIT ${count} FOR UPDATE SKIP LOCKED`.execute(db)
  const numbers = found.rows.map((row) => row.number)
  await sql`DELETE FROM partner_activities WHERE partner_number = ANY(${numbers}::bigint[])`.execute(db)
  await sql`DELETE FROM partner_totals WHERE partner_number = ANY(${numbers}::bigint[])`.execute(db)
  await sql`DELETE FROM partners WHERE number = ANY(${numbers}::bigint[])`.execute(db)
  return found.rows
}

/** Marks a partner, and those merged into it, as merged into another. */
export async function markMerged(db: Db, workspaceId: string, source: bigint, target: bigint): Promise<void> {
  await sql`UPDATE partners SET merged_into = ${target}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND (number = ${source} OR merged_into = ${source})`.execute(db)
}

/** Reads when bans and deactivations disabled links of the partner, newest first. */
export async function selectDisabledTimes(db: Db, workspaceId: string, number: bigint): Promise<Date[]> {
  const result = await sql<{ at: Date }>`SELECT (detail ->> 'linksDisabledAt')::timestamptz AS at
    FROM partner_activities
    WHERE workspace_id = ${workspaceId} AND partner_number = ${number} AND kind IN ('banned', 'deactivated')
    ORDER BY number DESC LIMIT 20`.execute(db)
  return result.rows.flatMap(({ at }) => (at ? [at] : []))
}

/** Reads a partner by id. The id of a merged partner finds the partner it became. */
async function selectPartnerById(db: Db, workspaceId: string, id: string): Promise<PartnerRow | undefined> {
  const result = await sql<PartnerRow>`SELECT p.* FROM partners asked
    JOIN partners p ON p.number = coalesce(asked.merged_into, asked.number)
    WHERE asked.workspace_id = ${workspaceId} AND asked.id = ${id} AND ${isVisible}`.execute(db)
  return result.rows[0]
}

export type BriefPartnerRow = ClaimedPartnerRow & Pick<PartnerRow, 'name' | 'image'>

/** Reads many partners by the ids that were asked for, without their long texts: an application may have 60 kB. */
export async function selectPartnersById(
  db: Db,
  workspaceId: string,
  ids: string[],
): Promise<(BriefPartnerRow & { asked: string })[]> {
  const result = await sql<
    BriefPartnerRow & { asked: string }
  >`SELECT asked.id AS asked, p.number, p.id, p.group_number,
      p.is_pinned, p.status, p.country, p.email, p.name, p.image FROM partners asked
    JOIN partners p ON p.number = coalesce(asked.merged_into, asked.number)
    WHERE asked.workspace_id = ${workspaceId} AND asked.id = ANY(${ids}::text[]) AND ${isVisible}`.execute(db)
  return result.rows
}

/** The condition that a partner is more than an unconfirmed application. */
const isVisible = sql`(p.status <> 'pending' OR p.applied_at IS NOT NULL)`

/** The numbers of partners, by the ids that were asked for. */
export async function selectPartnerNumbers(
  db: Db,
  workspaceId: string,
  ids: string[],
): Promise<{ id: string; number: bigint }[]> {
  const result = await sql<{ id: string; number: bigint }>`
    SELECT id, coalesce(merged_into, number) AS number FROM partners
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

const mostAliases = 10_000

/** Every id of the partners with these ids: their own, and those of the partners that were merged into them. */
export async function selectPartnerAliases(db: Db, workspaceId: string, ids: string[]): Promise<string[]> {
  const result = await sql<{ id: string }>`WITH asked AS (
      SELECT DISTINCT coalesce(merged_into, number) AS number FROM partners
      WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[]))
    SELECT id FROM partners JOIN asked USING (number)
    UNION SELECT p.id FROM partners p JOIN asked ON p.merged_into = asked.number
    WHERE p.workspace_id = ${workspaceId} LIMIT ${mostAliases}`.execute(db)
  return result.rows.map(({ id }) => id)
}

/** Partners after a number, or with the given numbers, including merged ones. */
export async function selectNumberedPartners(
  db: AllWorkspacesDb,
  range: { workspaceId?: string; after: bigint; count: number } | { numbers: bigint[] },
): Promise<Pick<PartnerRow, 'number' | 'id' | 'workspace_id'>[]> {
  const mine = 'workspaceId' in range && range.workspaceId ? sql`workspace_id = ${range.workspaceId}` : sql`true`
  const named =
    'numbers' in range ? sql`number = ANY(${range.numbers}::bigint[])` : sql`number > ${range.after} AND ${mine}`
  const result = await sql<Pick<PartnerRow, 'number' | 'id' | 'workspace_id'>>`SELECT number, id, workspace_id
    FROM partners WHERE ${named} ORDER BY number ${'count' in range ? sql`LIMIT ${range.count}` : sql``}`.execute(db)
  return result.rows
}

export type PartnersFilter = {
  groupNumbers?: { values: bigint[]; excluded: boolean }
  tagIds?: { values: string[]; excluded: boolean }
}

/** The statement that selects the numbers of partners in groups or with tags, for the conditions of other features. */
export function partnersSelection(workspaceId: string, { groupNumbers, tagIds }: PartnersFilter) {
  const not = (excluded: boolean) => (excluded ? sql`NOT` : sql``)
  const inGroups =
    groupNumbers && sql`${not(groupNumbers.excluded)} group_number = ANY(${groupNumbers.values}::bigint[])`
  const withTags =
    tagIds &&
    sql`${not(tagIds.excluded)} EXISTS (SELECT FROM partner_tag_assignments a
    WHERE a.partner_number = partners.number AND a.tag_id = ANY(${tagIds.values}::text[]))`
  return sql`SELECT number FROM partners
    WHERE workspace_id = ${workspaceId} AND ${inGroups ?? sql`true`} AND ${withTags ?? sql`true`}`
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
