import type { Plan } from '@tributary/contract/operation'
import { sql } from 'kysely'
import type { Config } from '../../platform/config.ts'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type IpStorage = Config['IP_STORAGE']
export type WorkspaceRow = {
  id: string
  name: string
  slug: string
  plan: Plan
  /** How much of a visitor's IP address is stored; null for the default IP_STORAGE. */
  ip_storage: IpStorage | null
  /** The currency that sales are converted to, as a lower-case ISO code. */
  currency: string
  /** The attribution window: the maximum age of a click that a lead or sale is attributed to. */
  attribution_days: number
  attribution_model: 'first-click' | 'last-click'
  /** The hostnames whose web pages may report clicks and conversions; empty allows all. */
  allowed_hostnames: string[]
  /** The recipient of e-mails about this workspace. */
  contact_email: string | null
  logo: string | null
  time_zone: string
  /** The first day of the week; 0 is Sunday. */
  week_start: number
  created_at: Date
}
type Defaulted =
  | 'ip_storage'
  | 'currency'
  | 'attribution_days'
  | 'attribution_model'
  | 'allowed_hostnames'
  | 'contact_email'
  | 'logo'
  | 'time_zone'
  | 'week_start'
  | 'created_at'
export type WorkspaceSettings = Partial<Pick<WorkspaceRow, 'name' | 'slug' | 'plan' | Exclude<Defaulted, 'created_at'>>>
type Tables = {
  workspaces: Omit<WorkspaceRow, Defaulted> & Partial<Pick<WorkspaceRow, Defaulted>> & { deleted_at?: Date | null }
}
const shown = [
  ...(['id', 'name', 'slug', 'plan', 'ip_storage', 'currency', 'attribution_days', 'attribution_model'] as const),
  ...(['allowed_hostnames', 'contact_email', 'logo', 'time_zone', 'week_start', 'created_at'] as const),
]

export async function insertWorkspace(db: Db, row: Omit<WorkspaceRow, Defaulted>): Promise<WorkspaceRow | undefined> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('workspaces')
    .values(row)
    .onConflict((conflict) => conflict.column('slug').doNothing())
    .returning(shown)
    .executeTakeFirst()
  return inserted as WorkspaceRow | undefined
}

export async function selectWorkspaces(db: AllWorkspacesDb): Promise<WorkspaceRow[]> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .select(shown)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .execute()
  return rows as WorkspaceRow[]
}

export async function selectWorkspace(db: Db, workspaceIdOrSlug: string): Promise<WorkspaceRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .select(shown)
    .where((is) => is.or([is('id', '=', workspaceIdOrSlug), is('slug', '=', workspaceIdOrSlug)]))
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return row as WorkspaceRow | undefined
}

export async function selectWorkspacesById(db: Db, workspaceIds: string[]): Promise<WorkspaceRow[]> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .select(shown)
    .where('id', 'in', workspaceIds)
    .where('deleted_at', 'is', null)
    .orderBy('created_at')
    .execute()
  return rows as WorkspaceRow[]
}

/** The SQL condition that a workspace is not deleted; the column is SQL, too. */
export function liveWorkspace({ workspace }: Record<'workspace', string>): string {
  return `EXISTS (SELECT FROM workspaces live WHERE live.id = ${workspace} AND live.deleted_at IS NULL)`
}

export async function updateWorkspace(
  db: Db,
  workspaceId: string,
  settings: WorkspaceSettings,
): Promise<WorkspaceRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('workspaces')
    .set(settings)
    .where('id', '=', workspaceId)
    .where('deleted_at', 'is', null)
    .returning(shown)
    .executeTakeFirst()
  return row as WorkspaceRow | undefined
}

/** The IP storage setting of these workspaces; workspaces without their own setting are absent. */
export async function selectIpStorage(db: Db, workspaceIds: string[]): Promise<Map<string, IpStorage>> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .select(['id', 'ip_storage'])
    .where('id', 'in', workspaceIds)
    .execute()
  return new Map(rows.flatMap(({ id, ip_storage }) => (ip_storage ? [[id, ip_storage]] : [])))
}

export async function selectPlans(db: Db, workspaceIds: string[]): Promise<Map<string, Plan>> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('workspaces')
    .select(['id', 'plan'])
    .where('id', 'in', workspaceIds)
    .execute()
  return new Map(rows.map(({ id, plan }) => [id, plan]))
}

const shards = 64
const correction = -1

/** Holds a lock that blocks other quota decisions of the workspace until the transaction ends. */
export async function lockQuota(db: Db, workspaceId: string, noun: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${`${workspaceId} ${noun}`}, ${locks.quotas}))`.execute(db)
}

/** Adds to a sharded usage counter. A connection always adds to the same row, so that transactions can't deadlock. */
export async function addUsage(db: Db, workspaceId: string, kind: string, change: number): Promise<void> {
  await sql`INSERT INTO workspace_usage AS known (workspace_id, kind, shard, count)
    VALUES (${workspaceId}, ${kind}, (pg_backend_pid() % ${shards}::integer)::smallint, ${change})
    ON CONFLICT (workspace_id, kind, shard) DO UPDATE SET count = known.count + excluded.count`.execute(db)
}

export async function selectUsage(db: Db, workspaceId: string, kind: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT coalesce(sum(count), 0)::bigint AS count FROM workspace_usage
    WHERE workspace_id = ${workspaceId} AND kind = ${kind}`.execute(db)
  return Number(result.rows[0]?.count ?? 0n)
}

/** Sets a usage counter to the number of counted rows. */
export async function correctUsage(db: Db, workspaceId: string, kind: string, counted: number): Promise<void> {
  await sql`INSERT INTO workspace_usage (workspace_id, kind, shard, count)
    SELECT ${workspaceId}, ${kind}, ${correction}::smallint, ${counted}::bigint - coalesce(sum(count), 0)
    FROM workspace_usage WHERE workspace_id = ${workspaceId} AND kind = ${kind} AND shard <> ${correction}
    ON CONFLICT (workspace_id, kind, shard) DO UPDATE SET count = excluded.count`.execute(db)
}

export function selectCurrency({ workspace }: Record<'workspace', string>): string {
  return `SELECT currency FROM workspaces WHERE workspaces.id = ${workspace}`
}
