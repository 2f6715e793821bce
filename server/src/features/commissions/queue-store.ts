import { sql } from 'kysely'
import { locks } from '../../platform/locks.ts'
import type { AllWorkspacesDb, Db } from '../../platform/postgres.ts'

export type QueueRow = { conversion_number: bigint; partner_id: string }
/** Why an event is not decided yet. */
export type WaitReason = 'no_country' | 'no_exchange_rate' | 'earlier_event' | 'failed'
export type Postponed = { number: bigint; customerId: string; waitsFor: WaitReason }

/** Workspaces with events to decide, after one in order, found by jumping from one to the next in the index. */
export async function selectQueuedWorkspaces(db: AllWorkspacesDb, after: string, count: number): Promise<string[]> {
  const next = (beyond: ReturnType<typeof sql>) => sql`(SELECT workspace_id FROM commission_queue
    WHERE retry_at IS NULL AND workspace_id > ${beyond} ORDER BY workspace_id LIMIT 1)`
  const result = await sql<{ workspace_id: string }>`WITH RECURSIVE found AS (
      SELECT 1 AS place, ${next(sql`${after}`)} AS workspace_id
      UNION ALL
      SELECT place + 1, ${next(sql`found.workspace_id`)} FROM found
      WHERE workspace_id IS NOT NULL AND place < ${count}::int)
    SELECT workspace_id FROM found WHERE workspace_id IS NOT NULL`.execute(db)
  return result.rows.map(({ workspace_id }) => workspace_id)
}

/** Locks the order of a workspace's decisions until the transaction ends. False when another transaction has it. */
export async function lockOrder(db: Db, workspaceId: string): Promise<boolean> {
  const result = await sql<{ locked: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${workspaceId}, ${locks.sharedCaps})) AS locked`.execute(db)
  return result.rows[0]?.locked === true
}

/** The oldest events of a workspace that can be tried now. */
export async function selectReady(
  db: Db,
  workspaceId: string,
  { withoutPartners, count }: { withoutPartners: string[]; count: number },
): Promise<QueueRow[]> {
  const result = await sql<QueueRow>`SELECT conversion_number, partner_id FROM commission_queue
    WHERE workspace_id = ${workspaceId} AND retry_at IS NULL AND partner_id <> ALL(${withoutPartners}::text[])
    ORDER BY conversion_number LIMIT ${count}`.execute(db)
  return result.rows
}

/** Which of these events are still undecided. Lock their partners before. */
export async function selectUndecided(db: Db, workspaceId: string, numbers: bigint[]): Promise<bigint[]> {
  const result = await sql<{ conversion_number: bigint }>`SELECT conversion_number FROM commission_queue
    WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${numbers}::bigint[])
    ORDER BY conversion_number`.execute(db)
  return result.rows.map(({ conversion_number }) => conversion_number)
}

/** The first waiting event of each customer, apart from the given events. Customers without one are missing. */
export async function selectFirstWaiting(
  db: Db,
  workspaceId: string,
  customerIds: string[],
  without: bigint[],
): Promise<Map<string, bigint>> {
  const result = await sql<{
    id: string
    number: bigint
  }>`SELECT id, number FROM unnest(${customerIds}::text[]) AS asked (id)
    CROSS JOIN LATERAL (SELECT conversion_number AS number FROM commission_queue
      WHERE workspace_id = ${workspaceId} AND customer_id = asked.id AND waits_for IS NOT NULL
        AND conversion_number <> ALL(${without}::bigint[]) ORDER BY conversion_number LIMIT 1) AS first`.execute(db)
  return new Map(result.rows.map(({ id, number }) => [id, number]))
}

export async function deleteQueued(db: Db, workspaceId: string, numbers: bigint[]): Promise<void> {
  await sql`DELETE FROM commission_queue
    WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${numbers}::bigint[])`.execute(db)
}

/** Decides events of partners that do not exist: they earn nothing. */
export async function refuseQueued(db: Db, workspaceId: string, numbers: bigint[], reason: string): Promise<number> {
  const result = await sql`WITH taken AS (
      DELETE FROM commission_queue WHERE conversion_number IN (SELECT conversion_number FROM commission_queue
        WHERE workspace_id = ${workspaceId} AND conversion_number = ANY(${numbers}::bigint[])
        FOR UPDATE SKIP LOCKED) RETURNING conversion_number, workspace_id)
    INSERT INTO commission_decisions (conversion_number, workspace_id, reason)
    SELECT conversion_number, workspace_id, ${reason} FROM taken`.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/** Takes events out of the ready part of the queue. Each further pause is twice as long. */
export async function postponeQueued(db: Db, workspaceId: string, events: Postponed[]): Promise<void> {
  await sql`UPDATE commission_queue q SET waits_for = given.waits_for, customer_id = given.customer_id,
      attempts = least(q.attempts + 1, 100),
      retry_at = clock_timestamp() + least(given.first * 2 ^ least(q.attempts, 20), given.most) * interval '1 second'
    FROM unnest(${events.map(({ number }) => number)}::bigint[], ${events.map(({ customerId }) => customerId)}::text[],
      ${events.map(({ waitsFor }) => waitsFor)}::text[], ${events.map(({ waitsFor }) => pauses[waitsFor].first)}::int[],
      ${events.map(({ waitsFor }) => pauses[waitsFor].most)}::int[])
      AS given (number, customer_id, waits_for, first, most)
    WHERE q.workspace_id = ${workspaceId} AND q.conversion_number = given.number`.execute(db)
}

const pauses: Record<WaitReason, { first: number; most: number }> = {
  no_country: { first: 1, most: 60 },
  no_exchange_rate: { first: 10, most: 600 },
  earlier_event: { first: 1, most: 60 },
  failed: { first: 60, most: 3_600 },
}

/** Puts postponed events whose time has come back into the ready part of the queue. Returns how many. */
export async function releaseQueued(db: AllWorkspacesDb, count: number): Promise<number> {
  const result = await sql`UPDATE commission_queue SET retry_at = NULL
    WHERE conversion_number IN (SELECT conversion_number FROM commission_queue WHERE retry_at <= clock_timestamp()
      ORDER BY retry_at LIMIT ${count} FOR UPDATE SKIP LOCKED)`.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/** Why an event waits; undefined when it does not. */
export async function selectWaitReason(db: Db, workspaceId: string, number: bigint): Promise<WaitReason | undefined> {
  const result = await sql<{ waits_for: WaitReason | null }>`SELECT waits_for FROM commission_queue
    WHERE workspace_id = ${workspaceId} AND conversion_number = ${number}`.execute(db)
  return result.rows[0]?.waits_for ?? undefined
}
