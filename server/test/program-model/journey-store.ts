import { sql } from 'kysely'
import type { Detail } from '../../src/features/commissions/commission.ts'
import type { Ctx, Platform } from '../../src/platform/context.ts'
import type { Outcome } from './journey.ts'
import type { World } from './journey-world.ts'

/* What the test reads and writes in the product's tables beside the product. */

/** Terms and their end carry the time of PostgreSQL; the journey's clock replaces it. See `freeTimes`. */
export async function setTimes({ db, now }: Ctx, rewardId: string): Promise<void> {
  await sql`WITH ended AS (UPDATE rewards SET archived_at = ${now()} WHERE id = ${rewardId} AND archived_at IS NOT NULL)
    UPDATE reward_versions SET created_at = ${now()} WHERE number = (SELECT max(v.number) FROM reward_versions v
      JOIN rewards r ON r.number = v.reward_number WHERE r.id = ${rewardId} AND r.archived_at IS NULL)`.execute(db)
}

/** Lets the test set the times of versions, in its own database only. */
export async function freeTimes({ db }: Platform): Promise<void> {
  await sql`ALTER TABLE reward_versions DISABLE TRIGGER reward_versions_immutable`.execute(db)
}

export type StoredCommission = Outcome['commissions'][string] & { id: string; detail: Detail | null }

type Row = {
  id: string
  partner_number: bigint
  type: string
  status: string
  amount: bigint
  earnings: bigint
  due_at: Date
  event: bigint | null
  reward: string | null
  version: number | null
  is_open: boolean | null
  detail: Detail | null
}

/** The commissions of each journey, by the key that the model gives them. */
export async function readCommissions(worlds: World[]): Promise<Map<string, StoredCommission>[]> {
  const [{ ctx }] = worlds as [World]
  const customers = worlds.flatMap((world) => world.customers.map(({ id }) => id))
  const owners = worlds.flatMap((world, journey) => world.customers.map(() => journey))
  const result = await sql<Row>`
    WITH events AS (SELECT c.number, row_number() OVER (PARTITION BY journey ORDER BY c.number) - 1 AS event
        FROM unnest(${customers}::text[], ${owners}::int[]) AS mine (customer_id, journey)
        JOIN conversions c ON c.workspace_id = ${ctx.workspaceId} AND c.customer_id = mine.customer_id)
    SELECT c.id, c.partner_number, c.type, c.status, c.amount, c.earnings, c.due_at, e.event, w.id AS reward, v.version,
      p.status = 'pending' AS is_open, d.why AS detail
    FROM commissions c LEFT JOIN events e ON e.number = c.conversion_number
    LEFT JOIN reward_versions v ON v.number = c.reward_version LEFT JOIN rewards w ON w.number = v.reward_number
    LEFT JOIN payouts p ON p.number = c.payout_number
    LEFT JOIN commission_details d ON d.commission_number = c.number
    WHERE c.partner_number = ANY(${worlds.flatMap(partnerNumbers)}::bigint[]) ORDER BY c.number`.execute(ctx.db)
  return worlds.map((world) => {
    const numbers = partnerNumbers(world)
    let customs = 0
    const mine = result.rows.filter(({ partner_number }) => numbers.includes(partner_number))
    return new Map(
      mine.map((row) => [
        row.event === null ? `custom ${customs++}` : `event ${row.event}`,
        {
          id: `cm_${row.id}`,
          partner: numbers.indexOf(row.partner_number),
          type: row.type,
          status: row.status,
          amount: row.amount,
          earnings: row.earnings,
          dueAt: row.due_at.toISOString(),
          version: row.type === 'custom' ? null : `${world.rewardIds.indexOf(row.reward ?? '')}.${row.version}`,
          isInOpenPayout: row.is_open ?? false,
          detail: row.detail,
        },
      ]),
    )
  })
}

function partnerNumbers({ partners }: World): bigint[] {
  return partners.map(({ number }) => number)
}
