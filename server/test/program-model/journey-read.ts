import { sql } from 'kysely'
import type { Ctx } from '../../src/platform/context.ts'
import type { Outcome } from './journey.ts'
import { readCommissions, type StoredCommission } from './journey-store.ts'
import type { World } from './journey-world.ts'

export type Found = { outcome: Outcome; stored: Map<string, StoredCommission> }

/** What the product made of journeys that share a program. */
export async function readOutcomes(worlds: World[]): Promise<Found[]> {
  const [{ ctx }] = worlds as [World]
  const [stored, reasons, partners] = [await readCommissions(worlds), await readReasons(ctx), await readPartners(ctx)]
  return worlds.map((world, index) => {
    const customers = new Set(world.customers.map(({ id }) => id))
    const numbers = world.partners.map(({ number }) => number)
    const commissions = stored[index] as Found['stored']
    const mine = partners.filter(({ number }) => numbers.includes(number))
    return {
      stored: commissions,
      outcome: {
        commissions: Object.fromEntries([...commissions].map(([key, { id: _, detail: __, ...rest }]) => [key, rest])),
        reasons: reasons.flatMap(({ customer_id, is_decided, reason }) => {
          if (!customers.has(customer_id)) return []
          return [is_decided ? reason : 'not decided']
        }),
        partners: mine.map((row) => ({
          group: world.groups.findIndex(({ number }) => number === row.group_number),
          totals: {
            leads: row.leads,
            conversions: row.conversions,
            sales: row.sales,
            saleAmount: row.sale_amount,
            commissions: row.commissions,
          },
          accrued: row.accrued,
          due: row.due,
          openPayout: row.open_payout,
        })),
        expense: mine.reduce((sum, { expense }) => sum + expense, 0n),
      },
    }
  })
}

async function readReasons({ db, workspaceId }: Ctx) {
  const result = await sql<{ customer_id: string; reason: string | null; is_decided: boolean }>`
    SELECT c.customer_id, d.reason, d.conversion_number IS NOT NULL AS is_decided FROM conversions c
    LEFT JOIN commission_decisions d ON d.conversion_number = c.number
    WHERE c.workspace_id = ${workspaceId} ORDER BY c.number`.execute(db)
  return result.rows
}

type PartnerRow = Record<'number' | 'group_number' | 'leads' | 'conversions' | 'sales' | 'sale_amount', bigint> &
  Record<'commissions' | 'accrued' | 'due' | 'open_payout' | 'expense', bigint>

/** Totals, balances and open payouts, and what each partner cost according to the postings. */
async function readPartners({ db, workspaceId }: Ctx): Promise<PartnerRow[]> {
  const result = await sql<PartnerRow>`
    WITH balances AS (SELECT a.partner_number, sum(b.credit - b.debit) FILTER (WHERE a.kind = 'accrued') AS accrued,
          sum(b.credit - b.debit) FILTER (WHERE a.kind = 'due') AS due
        FROM ledger_accounts a JOIN ledger_balances b ON b.account = a.number
        WHERE a.workspace_id = ${workspaceId} GROUP BY a.partner_number),
      expenses AS (SELECT coalesce(d.partner_number, c.partner_number) AS partner_number,
          sum(CASE WHEN d.kind = 'expense' THEN p.amount WHEN c.kind = 'expense' THEN -p.amount ELSE 0 END) AS expense
        FROM ledger_postings p JOIN ledger_accounts d ON d.number = p.debit JOIN ledger_accounts c ON c.number = p.credit
        WHERE p.workspace_id = ${workspaceId} GROUP BY 1),
      open AS (SELECT partner_number, sum(amount) AS open_payout FROM payouts
        WHERE workspace_id = ${workspaceId} AND status = 'pending' GROUP BY partner_number)
    SELECT p.number, p.group_number, t.leads, t.conversions, t.sales, t.sale_amount::bigint,
      t.commissions::bigint,
      coalesce(b.accrued, 0)::bigint AS accrued, coalesce(b.due, 0)::bigint AS due,
      coalesce(e.expense, 0)::bigint AS expense, coalesce(o.open_payout, 0)::bigint AS open_payout
    FROM partners p JOIN partner_totals t ON t.partner_number = p.number
    LEFT JOIN balances b ON b.partner_number = p.number LEFT JOIN expenses e ON e.partner_number = p.number
    LEFT JOIN open o ON o.partner_number = p.number
    WHERE p.workspace_id = ${workspaceId} ORDER BY p.number`.execute(db)
  return result.rows
}
