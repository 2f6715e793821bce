import type { Scope } from '@tributary/contract/permissions'
import type { TokenKind } from '@tributary/contract/tokens'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type TokenRow = {
  id: string
  workspace_id: string
  name: string
  prefix: string
  last_four: string
  scopes: Scope[]
  /** The owner of a personal key. */
  user_id: string | null
  created_by: string | null
  created_by_key: string | null
  allowed_hostnames: string[] | null
  replaced_by: string | null
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  last_used_from: string | null
  created_at: Date
}
type Optional = 'user_id' | 'created_by' | 'created_by_key' | 'allowed_hostnames'
export type NewTokenRow = Pick<
  TokenRow,
  'id' | 'workspace_id' | 'name' | 'prefix' | 'last_four' | 'scopes' | 'expires_at'
> &
  Partial<Pick<TokenRow, Optional>> & { hash: Buffer }
export type TokenChanges = Partial<Pick<TokenRow, 'name' | 'scopes' | 'expires_at' | 'allowed_hostnames'>>
type Tables = { tokens: NewTokenRow & Partial<TokenRow> & { expiry_warnings?: number } }

const shown = [
  ...(['id', 'workspace_id', 'name', 'prefix', 'last_four', 'scopes', 'user_id', 'created_by'] as const),
  ...(['created_by_key', 'allowed_hostnames', 'replaced_by', 'expires_at', 'revoked_at'] as const),
  ...(['last_used_at', 'last_used_from', 'created_at'] as const),
] as const
const columns = sql.join(shown.map((name) => sql.ref(name)))

export async function insertToken(db: Db, row: NewTokenRow): Promise<TokenRow> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('tokens')
    .values(row)
    .returning(shown)
    .executeTakeFirstOrThrow()
  return inserted as TokenRow
}

/** Counts the keys that are neither revoked nor expired. */
export async function countTokens(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM tokens WHERE workspace_id = ${workspaceId}
    AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Deletes revoked and expired keys, except for the last `most`. */
export async function deleteInactiveTokens(db: Db, workspaceId: string, most: number): Promise<void> {
  await sql`DELETE FROM tokens WHERE workspace_id = ${workspaceId} AND id IN (
    SELECT id FROM tokens WHERE workspace_id = ${workspaceId}
      AND (revoked_at IS NOT NULL OR expires_at <= now())
    ORDER BY least(revoked_at, expires_at) DESC OFFSET ${most})`.execute(db)
}

export async function selectTokens(db: Db, workspaceId: string): Promise<TokenRow[]> {
  const rows = await db
    .withTables<Tables>()
    .selectFrom('tokens')
    .select(shown)
    .where('workspace_id', '=', workspaceId)
    .orderBy('created_at')
    .execute()
  return rows as TokenRow[]
}

export async function selectTokenNames(
  db: Db,
  workspaceId: string,
  ids: string[],
): Promise<Pick<TokenRow, 'id' | 'name'>[]> {
  const result = await sql<Pick<TokenRow, 'id' | 'name'>>`SELECT id, name FROM tokens
    WHERE workspace_id = ${workspaceId} AND id = ANY(${ids}::text[])`.execute(db)
  return result.rows
}

export type TokenSelection = {
  kind?: TokenKind
  userIds: string[]
  isInactiveShown: boolean
  now: Date
  sort: 'createdAt' | 'name' | 'lastUsedAt'
  ascending: boolean
  offset: number
  count: number
}

const orders = {
  createdAt: sql`created_at`,
  name: sql`lower(name)`,
  lastUsedAt: sql`coalesce(last_used_at, '-infinity'::timestamptz)`,
}

/** Reads a page of keys. Keys of all owners match if `userIds` is empty. `publishable` is the prefix of those keys. */
export async function selectTokenPage(
  db: Db,
  workspaceId: string,
  selection: TokenSelection,
  publishable: string,
): Promise<TokenRow[]> {
  const kinds = {
    publishable: sql`starts_with(prefix, ${publishable})`,
    personal: sql`user_id IS NOT NULL`,
    machine: sql`user_id IS NULL AND NOT starts_with(prefix, ${publishable})`,
  }
  const conditions = [sql`workspace_id = ${workspaceId}`]
  if (selection.kind) conditions.push(kinds[selection.kind])
  for (const userId of selection.userIds) conditions.push(sql`user_id = ${userId}`)
  if (!selection.isInactiveShown)
    conditions.push(sql`revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${selection.now})`)
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const result = await sql<TokenRow>`SELECT ${columns} FROM tokens WHERE ${sql.join(conditions, sql` AND `)}
    ORDER BY ${orders[selection.sort]} ${direction}, id ${direction}
    LIMIT ${selection.count} OFFSET ${selection.offset}`.execute(db)
  return result.rows
}

/** Reads a key. In a transaction, locks its row until it ends. */
export async function selectToken(db: Db, workspaceId: string, id: string): Promise<TokenRow | undefined> {
  const rowLock = db.isTransaction ? sql`FOR UPDATE` : sql``
  const result = await sql<TokenRow>`SELECT ${columns} FROM tokens
    WHERE workspace_id = ${workspaceId} AND id = ${id} ${rowLock}`.execute(db)
  return result.rows[0]
}

export async function selectTokenByHash(db: AllWorkspacesDb, hash: Buffer): Promise<TokenRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('tokens')
    .select(shown)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row as TokenRow | undefined
}

export async function updateToken(
  db: Db,
  workspaceId: string,
  id: string,
  changes: TokenChanges & Partial<Pick<TokenRow, 'replaced_by' | 'revoked_at'>>,
): Promise<TokenRow> {
  const row = await db
    .withTables<Tables>()
    .updateTable('tokens')
    .set({ ...changes, ...(changes.expires_at !== undefined && { expiry_warnings: 0 }) })
    .where('workspace_id', '=', workspaceId)
    .where('id', '=', id)
    .returning(shown)
    .executeTakeFirstOrThrow()
  return row as TokenRow
}

/** Updates a key's last use at most once a minute, so that a busy key does not cost a write per request. */
export async function touchToken(db: Db, workspaceId: string, id: string, network: string | null): Promise<void> {
  await sql`UPDATE tokens SET last_used_at = now(), last_used_from = ${network}
    WHERE workspace_id = ${workspaceId} AND id = ${id}
    AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`.execute(db)
}

export async function selectTokenById(db: AllWorkspacesDb, id: string): Promise<TokenRow | undefined> {
  const row = await db.withTables<Tables>().selectFrom('tokens').select(shown).where('id', '=', id).executeTakeFirst()
  return row as TokenRow | undefined
}

/** Revokes the personal keys of a user in all workspaces; returns how many. */
export async function revokeTokensOfUser(db: AllWorkspacesDb, userId: string): Promise<number> {
  const result = await sql`UPDATE tokens SET revoked_at = now()
    WHERE user_id = ${userId} AND revoked_at IS NULL RETURNING id`.execute(db)
  return result.rows.length
}

export async function countTokensOfUser(db: AllWorkspacesDb, userId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM tokens
    WHERE user_id = ${userId} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function revokeToken(db: AllWorkspacesDb, id: string): Promise<TokenRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .updateTable('tokens')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('id', '=', id)
    .returning(shown)
    .executeTakeFirst()
  return row as TokenRow | undefined
}

export type ExpiringRow = Pick<TokenRow, 'id' | 'workspace_id' | 'user_id' | 'created_at'> & {
  expires_at: Date
  /** 1 for the warning a week before, 2 for the one a day before. */
  expiry_warnings: 1 | 2
}

/** Marks keys whose next warning is due and returns them; other workers skip them until the transaction ends. */
export async function takeExpiringTokens(db: AllWorkspacesDb, now: Date, count: number): Promise<ExpiringRow[]> {
  const due = sql`CASE WHEN expires_at <= ${now}::timestamptz + interval '1 day' THEN 2 ELSE 1 END`
  const result = await sql<ExpiringRow>`
    WITH due AS (
      SELECT id, ${due} AS warnings FROM tokens
      WHERE revoked_at IS NULL AND replaced_by IS NULL AND expires_at IS NOT NULL AND expiry_warnings < 2
        AND expires_at > ${now} AND expires_at <= ${now}::timestamptz + interval '7 days' AND expiry_warnings < ${due}
      ORDER BY expires_at LIMIT ${count} FOR UPDATE SKIP LOCKED)
    UPDATE tokens t SET expiry_warnings = due.warnings FROM due WHERE t.id = due.id
    RETURNING t.id, t.workspace_id, t.user_id, t.created_at, t.expires_at, t.expiry_warnings`.execute(db)
  return result.rows
}
