import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

/** `content` has all columns that the hash covers, as text. */
export type UnsealedRow = { number: bigint; workspace_id: string; content: string }
export type SealedRow = UnsealedRow & { sequence: bigint; hash: Buffer; hash_key: number }
export type ChainRow = {
  workspace_id: string
  sequence: bigint
  hash: Buffer
  removed_sequence: bigint
  removed_hash: Buffer
  mac: Buffer
  hash_key: number
}

const contentFragment = sql`jsonb_build_array(to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), actor_kind,
  actor_id, credential, operation, target_kind, to_jsonb(target_ids), request_id, encode(sealed_network, 'hex'),
  person, changes)::text`

/** Takes the sealing lock until the transaction ends; false while another process has it. */
export async function lockSealing(db: AllWorkspacesDb): Promise<boolean> {
  const result = await sql<{
    locked: boolean
  }>`SELECT pg_try_advisory_xact_lock(${locks.auditSealing}) AS locked`.execute(db)
  return result.rows[0]?.locked === true
}

export async function selectUnsealed(db: AllWorkspacesDb, count: number): Promise<UnsealedRow[]> {
  const result = await sql<UnsealedRow>`SELECT number, workspace_id, ${contentFragment} AS content FROM audit_entries
    WHERE hash IS NULL ORDER BY number LIMIT ${count}`.execute(db)
  return result.rows
}

export async function sealRows(db: AllWorkspacesDb, rows: Omit<SealedRow, 'content'>[]): Promise<void> {
  await sql`UPDATE audit_entries AS entry SET sequence = sealed.sequence, hash = sealed.hash, hash_key = sealed.hash_key
    FROM unnest(${rows.map(({ number }) => number)}::bigint[], ${rows.map(({ sequence }) => sequence)}::bigint[],
      ${rows.map(({ hash }) => hash)}::bytea[], ${rows.map(({ hash_key }) => hash_key)}::smallint[])
      AS sealed (number, sequence, hash, hash_key)
    WHERE entry.number = sealed.number`.execute(db)
}

/** Reads the chains of these workspaces, and locks their rows. */
export async function selectChainsForUpdate(db: AllWorkspacesDb, workspaceIds: string[]): Promise<ChainRow[]> {
  const result = await sql<ChainRow>`SELECT * FROM audit_chains WHERE workspace_id = ANY(${workspaceIds}::text[])
    ORDER BY workspace_id FOR UPDATE`.execute(db)
  return result.rows
}

export async function saveChains(db: AllWorkspacesDb, chains: ChainRow[]): Promise<void> {
  await sql`INSERT INTO audit_chains (workspace_id, sequence, hash, removed_sequence, removed_hash, mac, hash_key)
    SELECT * FROM unnest(${chains.map((chain) => chain.workspace_id)}::text[],
      ${chains.map(({ sequence }) => sequence)}::bigint[], ${chains.map(({ hash }) => hash)}::bytea[],
      ${chains.map((chain) => chain.removed_sequence)}::bigint[], ${chains.map((chain) => chain.removed_hash)}::bytea[],
      ${chains.map(({ mac }) => mac)}::bytea[], ${chains.map(({ hash_key }) => hash_key)}::smallint[])
    ON CONFLICT (workspace_id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash,
      removed_sequence = excluded.removed_sequence, removed_hash = excluded.removed_hash, mac = excluded.mac,
      hash_key = excluded.hash_key`.execute(db)
}

export async function selectChain(db: Db, workspaceId: string): Promise<ChainRow | undefined> {
  const result = await sql<ChainRow>`SELECT * FROM audit_chains WHERE workspace_id = ${workspaceId}`.execute(db)
  return result.rows[0]
}

/** The names of chains after a name: of chains, and of sealed entries, in case the row of a chain was deleted. */
export async function selectChainNames(db: AllWorkspacesDb, after: string, count: number): Promise<string[]> {
  const result = await sql<{ name: string }>`WITH RECURSIVE sealed AS (
      (SELECT workspace_id FROM audit_entries WHERE hash IS NOT NULL AND workspace_id > ${after}
        ORDER BY workspace_id LIMIT 1)
      UNION ALL SELECT next.workspace_id FROM sealed CROSS JOIN LATERAL (SELECT workspace_id FROM audit_entries
        WHERE hash IS NOT NULL AND workspace_id > sealed.workspace_id ORDER BY workspace_id LIMIT 1) AS next
    ) SELECT workspace_id AS name FROM (
      (SELECT workspace_id FROM sealed LIMIT ${count})
      UNION (SELECT workspace_id FROM audit_chains WHERE workspace_id > ${after} ORDER BY workspace_id LIMIT ${count})
    ) AS named ORDER BY 1 LIMIT ${count}`.execute(db)
  return result.rows.map(({ name }) => name)
}

export async function selectSealed(
  db: Db,
  workspaceId: string,
  { after, count }: { after: bigint; count: number },
): Promise<SealedRow[]> {
  const result =
    await sql<SealedRow>`SELECT number, workspace_id, ${contentFragment} AS content, sequence, hash, hash_key
    FROM audit_entries WHERE workspace_id = ${workspaceId} AND hash IS NOT NULL AND sequence > ${after}
    ORDER BY sequence LIMIT ${count}`.execute(db)
  return result.rows
}

/** Counts entries that should be sealed by now. */
export async function countUnsealed(db: AllWorkspacesDb, before: Date): Promise<number> {
  const result = await sql<{
    count: bigint
  }>`SELECT count(*) FROM audit_entries WHERE hash IS NULL AND at < ${before}`.execute(db)
  return Number(result.rows[0]?.count ?? 0)
}

/** Chains whose oldest entry is older than this time. */
export async function selectExpiredChains(db: AllWorkspacesDb, before: Date, count: number): Promise<string[]> {
  const result = await sql<{ workspace_id: string }>`SELECT workspace_id FROM audit_chains AS chain
    WHERE EXISTS (SELECT FROM audit_entries AS entry WHERE entry.workspace_id = chain.workspace_id
      AND entry.hash IS NOT NULL AND entry.sequence = chain.removed_sequence + 1 AND entry.at < ${before})
    LIMIT ${count}`.execute(db)
  return result.rows.map(({ workspace_id }) => workspace_id)
}

/** Deletes the oldest entries of a chain, up to the first that is not older than this time. Returns the last deleted. */
export async function deleteOldest(
  db: Db,
  workspaceId: string,
  { after, before, count }: { after: bigint; before: Date; count: number },
): Promise<{ sequence: bigint; hash: Buffer } | undefined> {
  await sql`SET LOCAL tributary.audit_retention = 'on'`.execute(db)
  const result = await sql<{ sequence: bigint; hash: Buffer }>`WITH oldest AS (
      SELECT sequence, bool_and(at < ${before}) OVER (ORDER BY sequence) AS is_old FROM audit_entries
      WHERE workspace_id = ${workspaceId} AND hash IS NOT NULL AND sequence > ${after} AND sequence <= ${after + BigInt(count)}
    ), removed AS (
      DELETE FROM audit_entries WHERE workspace_id = ${workspaceId} AND hash IS NOT NULL
        AND sequence IN (SELECT sequence FROM oldest WHERE is_old) RETURNING sequence, hash
    ) SELECT sequence, hash FROM removed ORDER BY sequence DESC LIMIT 1`.execute(db)
  await sql`SET LOCAL tributary.audit_retention = 'off'`.execute(db)
  return result.rows[0]
}
