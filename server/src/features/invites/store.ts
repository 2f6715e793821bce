import type { Role } from '@tributary/contract/permissions'
import { sql } from 'kysely'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type InviteRow = {
  id: string
  workspace_id: string
  email: string
  role: Role
  invited_by: string | null
  expires_at: Date
  accepted_at: Date | null
  created_at: Date
}
export type InviteStatus = 'pending' | 'expired' | 'accepted'

const shown = sql`id, workspace_id, email, role, invited_by, expires_at, accepted_at, created_at`

/** Inserts an invite; undefined when the address has an open invite. */
export async function insertInvite(
  db: Db,
  row: Pick<InviteRow, 'id' | 'workspace_id' | 'email' | 'role' | 'invited_by' | 'expires_at'> & { hash: Buffer },
): Promise<InviteRow | undefined> {
  const result = await sql<InviteRow>`
    INSERT INTO invites (id, workspace_id, email, role, hash, invited_by, expires_at)
    VALUES (${row.id}, ${row.workspace_id}, ${row.email}, ${row.role}, ${row.hash}, ${row.invited_by}, ${row.expires_at})
    ON CONFLICT (workspace_id, email) WHERE accepted_at IS NULL DO NOTHING RETURNING ${shown}`.execute(db)
  return result.rows[0]
}

export async function selectInvites(
  db: Db,
  workspaceId: string,
  selection: {
    status?: InviteStatus
    now: Date
    sort: 'createdAt' | 'email'
    ascending: boolean
    offset: number
    count: number
  },
): Promise<InviteRow[]> {
  const { status, now, offset, count } = selection
  const direction = selection.ascending ? sql`ASC` : sql`DESC`
  const order = selection.sort === 'email' ? sql`email` : sql`created_at`
  const conditions = {
    pending: sql`accepted_at IS NULL AND expires_at > ${now}`,
    expired: sql`accepted_at IS NULL AND expires_at <= ${now}`,
    accepted: sql`accepted_at IS NOT NULL`,
  }
  const condition = status ? conditions[status] : sql`true`
  const result = await sql<InviteRow>`SELECT ${shown} FROM invites
    WHERE workspace_id = ${workspaceId} AND ${condition}
    ORDER BY ${order} ${direction}, id ${direction} LIMIT ${count} OFFSET ${offset}`.execute(db)
  return result.rows
}

/** Reads an invite. In a transaction, locks its row until it ends. */
export async function selectInvite(db: Db, workspaceId: string, id: string): Promise<InviteRow | undefined> {
  const rowLock = db.isTransaction ? sql`FOR UPDATE` : sql``
  const result = await sql<InviteRow>`SELECT ${shown} FROM invites
    WHERE workspace_id = ${workspaceId} AND id = ${id} ${rowLock}`.execute(db)
  return result.rows[0]
}

/** Finds an invite for the operator, who names no workspace. */
export async function selectInviteById(db: AllWorkspacesDb, id: string): Promise<InviteRow | undefined> {
  const result = await sql<InviteRow>`SELECT ${shown} FROM invites WHERE id = ${id}`.execute(db)
  return result.rows[0]
}

/** Finds an invite by the hash of its secret. In a transaction, locks its row until it ends. */
export async function selectInviteByHash(db: AllWorkspacesDb, hash: Buffer): Promise<InviteRow | undefined> {
  const rowLock = db.isTransaction ? sql`FOR UPDATE` : sql``
  const result = await sql<InviteRow>`SELECT ${shown} FROM invites WHERE hash = ${hash} ${rowLock}`.execute(db)
  return result.rows[0]
}

/** Whether any workspace has an open invite for this address. */
export async function hasOpenInvite(db: AllWorkspacesDb, email: string, now: Date): Promise<boolean> {
  const result = await sql`SELECT FROM invites
    WHERE email = ${email} AND accepted_at IS NULL AND expires_at > ${now} LIMIT 1`.execute(db)
  return result.rows.length > 0
}

export async function countOpenInvites(db: Db, workspaceId: string): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM invites
    WHERE workspace_id = ${workspaceId} AND accepted_at IS NULL`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Replaces the secret of an invite that was not accepted; undefined for others. */
export async function replaceSecret(
  db: Db,
  workspaceId: string,
  id: string,
  { hash, expiresAt }: { hash: Buffer; expiresAt?: Date },
): Promise<InviteRow | undefined> {
  const expires = expiresAt ? sql`${expiresAt}` : sql`expires_at`
  const result = await sql<InviteRow>`UPDATE invites SET hash = ${hash}, expires_at = ${expires}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND accepted_at IS NULL RETURNING ${shown}`.execute(db)
  return result.rows[0]
}

export async function markAccepted(db: Db, workspaceId: string, id: string, now: Date): Promise<void> {
  await sql`UPDATE invites SET accepted_at = ${now}, updated_at = now()
    WHERE workspace_id = ${workspaceId} AND id = ${id}`.execute(db)
}

export async function deleteInvite(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const result = await sql`DELETE FROM invites
    WHERE workspace_id = ${workspaceId} AND id = ${id} AND accepted_at IS NULL RETURNING id`.execute(db)
  return result.rows.length > 0
}

/** Deletes the invites to an address and the records of its e-mails. Returns the ids of the invites. */
export async function deleteInvitesTo(db: AllWorkspacesDb, email: string): Promise<string[]> {
  await sql`DELETE FROM invite_emails WHERE email = ${email}`.execute(db)
  const result = await sql<{ id: string }>`DELETE FROM invites WHERE email = ${email} RETURNING id`.execute(db)
  return result.rows.map(({ id }) => id)
}

/** Deletes the open invites that a user sent, in all workspaces. */
export async function deleteOpenInvitesBy(db: AllWorkspacesDb, userId: string): Promise<void> {
  await sql`DELETE FROM invites WHERE invited_by = ${userId} AND accepted_at IS NULL`.execute(db)
}

export async function countEmails(db: Db, workspaceId: string, since: Date): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM invite_emails
    WHERE workspace_id = ${workspaceId} AND at > ${since}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function countEmailsTo(db: AllWorkspacesDb, email: string, since: Date): Promise<number> {
  const result = await sql<{ count: bigint }>`SELECT count(*) FROM invite_emails
    WHERE email = ${email} AND at > ${since}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

export async function insertEmail(db: Db, row: { workspace_id: string; invite_id: string; email: string; at: Date }) {
  await sql`INSERT INTO invite_emails (workspace_id, invite_id, email, at)
    VALUES (${row.workspace_id}, ${row.invite_id}, ${row.email}, ${row.at})`.execute(db)
}

const prunedAtOnce = 1_000

/** Deletes old records of e-mails, which no limit counts any more. */
export async function pruneEmails(db: AllWorkspacesDb, before: Date): Promise<void> {
  await sql`DELETE FROM invite_emails WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM invite_emails WHERE at < ${before} LIMIT ${prunedAtOnce}))`.execute(db)
}
