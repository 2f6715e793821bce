import type { RewardEventName } from '@tributary/contract/reward-terms'
import { sql } from 'kysely'
import type { Db } from '../../platform/postgres.ts'
import type { StoredTerms } from './terms.ts'

export type RewardRow = {
  number: bigint
  id: string
  workspace_id: string
  group_number: bigint | null
  partner_number: bigint | null
  event: RewardEventName
  archived_at: Date | null
  created_at: Date
}
export type VersionRow = {
  number: bigint
  reward_number: bigint
  reward_id: string
  version: number
  terms: unknown
  applies_to_all: boolean
  actor: string
  created_at: Date
}
/** A reward with its current version. */
export type CurrentReward = { reward: RewardRow; version: VersionRow }
export type Page = { count: number; offset: number; ascending: boolean }
export type RewardFilter = { groupNumber?: bigint; partnerNumber?: bigint; event?: RewardEventName }
type CurrentRow = RewardRow & { version: Omit<VersionRow, 'reward_id' | 'created_at'> & { created_at: string } }

const versionColumns = sql`v.number, v.reward_number, v.version, v.terms, v.applies_to_all, v.actor, v.created_at`

/** Inserts a reward. Undefined when its group or partner has one for the event. */
export async function insertReward(
  db: Db,
  row: Pick<RewardRow, 'id' | 'workspace_id' | 'group_number' | 'partner_number' | 'event'>,
): Promise<RewardRow | undefined> {
  const result = await sql<RewardRow>`
    INSERT INTO rewards (id, workspace_id, group_number, partner_number, event)
    VALUES (${row.id}, ${row.workspace_id}, ${row.group_number}, ${row.partner_number}, ${row.event})
    ON CONFLICT DO NOTHING RETURNING *`.execute(db)
  return result.rows[0]
}

/** Whether a reward, also an archived one or an earlier version, has a cap that partners share. */
export async function selectSharedCap(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql`SELECT FROM reward_versions WHERE workspace_id = ${workspaceId}
    AND terms -> 'cap' ->> 'scope' IN ('group', 'program') LIMIT 1`.execute(db)
  return result.rows.length > 0
}

/** How many rewards a group or partner has had for an event, with deleted ones. */
export async function countRewards(
  db: Db,
  workspaceId: string,
  { group_number, partner_number, event }: Pick<RewardRow, 'group_number' | 'partner_number' | 'event'>,
): Promise<number> {
  const owned = group_number === null ? sql`partner_number = ${partner_number}` : sql`group_number = ${group_number}`
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM rewards
    WHERE workspace_id = ${workspaceId} AND ${owned} AND event = ${event}`.execute(db)
  return Number(result.rows[0]?.count)
}

/** How many characters the terms of all versions of a reward have. */
export async function measureVersions(db: Db, workspaceId: string, { number }: Pick<RewardRow, 'number'>) {
  const result = await sql<{ characters: bigint }>`SELECT coalesce(sum(length(terms::text)), 0) AS characters
    FROM reward_versions WHERE workspace_id = ${workspaceId} AND reward_number = ${number}`.execute(db)
  return Number(result.rows[0]?.characters)
}

export async function insertVersion(
  db: Db,
  workspaceId: string,
  reward: Pick<RewardRow, 'number' | 'id'>,
  row: { version: number; terms: StoredTerms; appliesToAll: boolean; actor: string; at: Date },
): Promise<VersionRow> {
  const result = await sql<VersionRow>`
    INSERT INTO reward_versions (reward_number, workspace_id, version, terms, applies_to_all, actor, created_at)
    VALUES (${reward.number}, ${workspaceId}, ${row.version}, ${JSON.stringify(row.terms)}::jsonb, ${row.appliesToAll},
      ${row.actor}, ${row.at})
    RETURNING *`.execute(db)
  return { ...(result.rows[0] as VersionRow), reward_id: reward.id }
}

export async function selectRewards(
  db: Db,
  workspaceId: string,
  filter: RewardFilter,
  page: Page,
): Promise<CurrentReward[]> {
  const conditions = [
    sql`r.workspace_id = ${workspaceId} AND r.archived_at IS NULL`,
    ...(filter.groupNumber === undefined ? [] : [sql`r.group_number = ${filter.groupNumber}`]),
    ...(filter.partnerNumber === undefined ? [] : [sql`r.partner_number = ${filter.partnerNumber}`]),
    ...(filter.event === undefined ? [] : [sql`r.event = ${filter.event}`]),
  ]
  return selectCurrent(
    db,
    workspaceId,
    sql`${sql.join(conditions, sql` AND `)} ORDER BY r.number ${direction(page)} LIMIT ${page.count} OFFSET ${page.offset}`,
  )
}

/** Reads a reward. In a transaction, locks its row until it ends, so that versions are made one after another. */
export async function selectReward(db: Db, workspaceId: string, id: string): Promise<CurrentReward | undefined> {
  if (db.isTransaction) {
    await sql`SELECT FROM rewards WHERE workspace_id = ${workspaceId} AND id = ${id} FOR NO KEY UPDATE`.execute(db)
  }
  const found = await selectCurrent(db, workspaceId, sql`r.workspace_id = ${workspaceId} AND r.id = ${id}`)
  return found[0]
}

type Owners = { groups: bigint[]; partners: bigint[] }

/** The rewards that apply to new customers of the groups and partners, without their terms. */
export async function selectApplicable(db: Db, workspaceId: string, of: Owners): Promise<RewardRow[]> {
  const result = await sql<RewardRow>`SELECT r.* FROM rewards r WHERE ${isApplicable(workspaceId, of)}`.execute(db)
  return result.rows
}

/** The current versions of the applicable rewards for an event; undefined when they have more than `mostCharacters`. */
export async function selectApplicableVersions(
  db: Db,
  workspaceId: string,
  { event, mostCharacters, ...of }: Owners & { event: RewardEventName; mostCharacters: number },
): Promise<CurrentReward[] | undefined> {
  const condition = sql`${isApplicable(workspaceId, of)} AND r.event = ${event}`
  const measured = await sql<{ characters: bigint }>`SELECT coalesce(sum(length(current.terms::text)), 0) AS characters
    FROM rewards r ${currentVersion(workspaceId)} WHERE ${condition}`.execute(db)
  return Number(measured.rows[0]?.characters) > mostCharacters ? undefined : selectCurrent(db, workspaceId, condition)
}

function isApplicable(workspaceId: string, { groups, partners }: Owners) {
  return sql`r.workspace_id = ${workspaceId} AND r.archived_at IS NULL
    AND (r.group_number = ANY(${groups}::bigint[]) OR r.partner_number = ANY(${partners}::bigint[]))`
}

function currentVersion(workspaceId: string) {
  return sql`CROSS JOIN LATERAL (SELECT ${versionColumns} FROM reward_versions v
    WHERE v.workspace_id = ${workspaceId} AND v.reward_number = r.number ORDER BY v.version DESC LIMIT 1) AS current`
}

async function selectCurrent(db: Db, workspaceId: string, condition: ReturnType<typeof sql>): Promise<CurrentReward[]> {
  const result = await sql<CurrentRow>`
    SELECT r.*, to_jsonb(current) AS version FROM rewards r ${currentVersion(workspaceId)}
    WHERE ${condition}`.execute(db)
  return result.rows.map(({ version, ...reward }) => ({
    reward,
    version: {
      ...version,
      number: BigInt(version.number),
      reward_number: reward.number,
      reward_id: reward.id,
      created_at: new Date(version.created_at),
    },
  }))
}

export async function selectVersions(
  db: Db,
  workspaceId: string,
  reward: Pick<RewardRow, 'number' | 'id'>,
  page: Page,
): Promise<VersionRow[]> {
  const result = await sql<Omit<VersionRow, 'reward_id'>>`
    SELECT ${versionColumns} FROM reward_versions v
    WHERE v.workspace_id = ${workspaceId} AND v.reward_number = ${reward.number}
    ORDER BY v.version ${direction(page)} LIMIT ${page.count} OFFSET ${page.offset}`.execute(db)
  return result.rows.map((row) => ({ ...row, reward_id: reward.id }))
}

/**
 * Reads versions by number, and the later versions of the same rewards that apply to all, each once; oldest first. Their
 * terms are null when all have more than `mostCharacters` together. Returns at most `count`.
 */
export async function selectBoundVersions(
  db: Db,
  workspaceId: string,
  numbers: bigint[],
  { mostCharacters, count }: { mostCharacters: number; count: number },
): Promise<VersionRow[]> {
  const result = await sql<VersionRow>`
    WITH bound AS (SELECT reward_number, min(version) AS version FROM reward_versions
      WHERE workspace_id = ${workspaceId} AND number = ANY(${numbers}::bigint[]) GROUP BY reward_number),
    found AS (SELECT r.id AS reward_id, ${versionColumns}, sum(length(v.terms::text)) OVER () AS characters
      FROM bound b
      JOIN rewards r ON r.workspace_id = ${workspaceId} AND r.number = b.reward_number
      JOIN reward_versions v ON v.workspace_id = ${workspaceId} AND v.reward_number = b.reward_number
        AND (v.number = ANY(${numbers}::bigint[]) OR (v.version > b.version AND v.applies_to_all)))
    SELECT reward_id, number, reward_number, version, applies_to_all, actor, created_at,
      CASE WHEN characters <= ${mostCharacters} THEN terms END AS terms
    FROM found ORDER BY version LIMIT ${count}`.execute(db)
  return result.rows
}

export type SpanRow = VersionRow & {
  group_number: bigint | null
  partner_number: bigint | null
  event: RewardEventName
  until: Date | null
}

/**
 * The versions that were current at any time of a period, for the groups and partners; oldest first. Their terms are null
 * when all have more than `mostCharacters` together. Returns at most `count`.
 */
export async function selectSpans(
  db: Db,
  workspaceId: string,
  of: Owners,
  { first, last, mostCharacters, count }: { first: Date; last: Date; mostCharacters: number; count: number },
): Promise<SpanRow[]> {
  // An event's time has milliseconds, the time of a reward's version microseconds.
  const result = await sql<SpanRow>`SELECT number, reward_number, version, applies_to_all, actor, created_at, reward_id,
      group_number, partner_number, event, until,
      CASE WHEN sum(length(terms::text)) OVER () <= ${mostCharacters} THEN terms END AS terms FROM (
      SELECT ${versionColumns}, r.id AS reward_id, r.group_number, r.partner_number, r.event,
        coalesce(lead(v.created_at) OVER (PARTITION BY r.number ORDER BY v.version), r.archived_at) AS until
      FROM rewards r JOIN reward_versions v ON v.reward_number = r.number
      WHERE r.workspace_id = ${workspaceId} AND (r.archived_at IS NULL OR r.archived_at > ${first})
        AND (r.group_number = ANY(${of.groups}::bigint[]) OR r.partner_number = ANY(${of.partners}::bigint[]))
    ) AS spans
    WHERE created_at < ${last}::timestamptz + interval '1 millisecond' AND (until IS NULL OR until > ${first})
    ORDER BY reward_number, version LIMIT ${count}`.execute(db)
  return result.rows
}

/** Archives a reward. False when it is archived or does not exist. */
export async function archiveReward(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const result = await sql`
    UPDATE rewards SET archived_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND archived_at IS NULL RETURNING id`.execute(db)
  return result.rows.length > 0
}

export async function archiveRewardsOfGroup(db: Db, workspaceId: string, groupNumber: bigint): Promise<void> {
  await sql`UPDATE rewards SET archived_at = now()
    WHERE workspace_id = ${workspaceId} AND group_number = ${groupNumber} AND archived_at IS NULL`.execute(db)
}

function direction({ ascending }: Page) {
  return ascending ? sql`ASC` : sql`DESC`
}
