import type { Scope } from '@tributary/contract/operation'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type TokenRow = {
  id: string
  workspace_id: string
  name: string
  prefix: string
  last_four: string
  scopes: Scope[]
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
  created_at: Date
}
export type NewTokenRow = Pick<
  TokenRow,
  'id' | 'workspace_id' | 'name' | 'prefix' | 'last_four' | 'scopes' | 'expires_at'
> & {
  hash: Buffer
}
type Tables = { tokens: NewTokenRow & Partial<TokenRow> }

const shown = [
  'id',
  'workspace_id',
  'name',
  'prefix',
  'last_four',
  'scopes',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'created_at',
] as const

export async function insertToken(db: Db, row: NewTokenRow): Promise<TokenRow> {
  const inserted = await db
    .withTables<Tables>()
    .insertInto('tokens')
    .values(row)
    .returning(shown)
    .executeTakeFirstOrThrow()
  return inserted as TokenRow
}

export async function countTokens(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`
    SELECT count(*) FROM tokens WHERE workspace_id = ${workspaceId} AND revoked_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
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

export async function selectTokenByHash(db: AllWorkspacesDb, hash: Buffer): Promise<TokenRow | undefined> {
  const row = await db
    .withTables<Tables>()
    .selectFrom('tokens')
    .select(shown)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row as TokenRow | undefined
}

/** Updates a key's last use at most once a minute, so that a busy key does not cost a write per request. */
export async function touchToken(db: Db, workspaceId: string, id: string): Promise<void> {
  await sql`UPDATE tokens SET last_used_at = now() WHERE workspace_id = ${workspaceId} AND id = ${id}
    AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`.execute(db)
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
