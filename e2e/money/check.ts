import { createClient } from '@tributary/contract/client'
import { sql } from 'kysely'
import type { Platform } from '../../server/src/platform/context.ts'
import { eventually } from '../../server/test/stack.ts'
import type { Sale } from './load.ts'
import { leadEarnings, type Seller } from './program.ts'

type Figures = { totalSales: number; totalSaleAmount: number; totalLeads: number; totalCommissions: number }

/** Waits until every event is decided and stored in ClickHouse. */
export async function drain({ db }: Pick<Platform, 'db'>, withinMs: number): Promise<void> {
  await eventually(async () => {
    const result = await sql<{ queued: number; unstored: number; unpublished: number }>`SELECT
      (SELECT count(*)::int FROM commission_queue) AS queued, (SELECT count(*)::int FROM outbox) AS unpublished,
      (SELECT count(*)::int FROM conversions WHERE stored_at IS NULL) AS unstored`.execute(db)
    const left = JSON.stringify(result.rows[0])
    if (left !== '{"queued":0,"unpublished":0,"unstored":0}') throw new Error(`Not drained: ${left}`)
  }, withinMs)
}

/** Counts that say whether each sale and refund was recorded and decided once. */
export async function countDecisions({ db }: Pick<Platform, 'db'>) {
  const result = await sql<Record<'sales' | 'refunds' | 'undecided' | 'rewardedTwice' | 'clawbacks', number>>`SELECT
    (SELECT count(DISTINCT invoice_id)::int FROM conversions WHERE kind = 'sale') AS "sales",
    (SELECT count(DISTINCT refund_id)::int FROM conversions WHERE kind = 'refund') AS "refunds",
    (SELECT count(*)::int FROM conversions LEFT JOIN commission_decisions d ON d.conversion_number = number
      WHERE d.conversion_number IS NULL) AS "undecided",
    (SELECT count(*)::int FROM (SELECT FROM commissions GROUP BY conversion_number HAVING count(*) > 1) AS doubled)
      AS "rewardedTwice",
    (SELECT count(*)::int FROM commissions WHERE type = 'custom') AS "clawbacks"`.execute(db)
  return result.rows[0]
}

export async function countRows({ db }: Pick<Platform, 'db'>) {
  const result = await sql<Record<'sales' | 'refunds' | 'commissions' | 'decisions', number>>`SELECT
    (SELECT count(*)::int FROM conversions WHERE kind = 'sale') AS "sales",
    (SELECT count(*)::int FROM conversions WHERE kind = 'refund') AS "refunds",
    (SELECT count(*)::int FROM commissions) AS "commissions",
    (SELECT count(*)::int FROM commission_decisions) AS "decisions"`.execute(db)
  return result.rows[0]
}

/** Compares each partner's totals and balances with plain sums of its sales. Returns the differences. */
export async function compareWithSums(url: string, token: string, sellers: Seller[], sales: Sale[]): Promise<string[]> {
  const call = createClient({ url, token })
  const differences: string[] = []
  const found = new Map(
    (await call('listPartners', { query: { pageSize: 100 } })).map((partner) => [partner.id, partner]),
  )
  const byGroup = new Map<string, { found: number; earned: number }>()
  for (const seller of sellers) {
    const { partnerId, terms } = seller
    const { figures, earned } = sumSales(
      seller,
      sales.filter((sale) => sale.seller === seller),
    )
    const partner = found.get(partnerId) as Figures | undefined
    const { balances } = await call('getLedgerBalances', { query: { partnerId } })
    const owed = -balances.reduce((sum, { balance }) => sum + balance, 0)
    const group = byGroup.get(terms.name) ?? { found: 0, earned: 0 }
    byGroup.set(terms.name, { found: group.found + owed, earned: group.earned + earned })
    const isShared = terms.limit?.scope === 'group'
    for (const name of Object.keys(figures) as (keyof Figures)[]) {
      if (name === 'totalCommissions' && isShared) continue
      if (partner?.[name] !== figures[name])
        differences.push(`${name} of ${seller.linkKey}: ${partner?.[name]} instead of ${figures[name]}`)
    }
    if (partner?.totalCommissions !== owed)
      differences.push(`${seller.linkKey} has commissions of ${partner?.totalCommissions}, and the ledger ${owed}`)
  }
  for (const { terms } of sellers.filter(({ terms }) => terms.limit?.scope === 'group')) {
    const { found = 0, earned = 0 } = byGroup.get(terms.name) ?? {}
    const leads = sellers.filter((seller) => seller.terms === terms).flatMap(({ customers }) => customers).length
    const expected = Math.min(earned, terms.limit?.amount ?? 0) + leads * leadEarnings
    if (found !== expected) differences.push(`the group ${terms.name} earned ${found} instead of ${expected}`)
  }
  return [...new Set(differences)]
}

/** What a partner's figures must be. `earned` is what its sales earn without a limit and without leads. */
function sumSales({ terms, customers }: Seller, sales: Sale[]): { figures: Figures; earned: number } {
  const left = sales.map(({ amount, refunds }) => {
    const isFull = refunds.some((refund) => refund.amount === null)
    const refunded = isFull ? amount : refunds.reduce((sum, refund) => sum + (refund.amount ?? 0), 0)
    return { amount, left: amount - refunded }
  })
  const earned = left.reduce((sum, sale) => sum + terms.earnings(sale), 0)
  const paid = terms.limit ? Math.min(earned, terms.limit.amount) : earned
  return {
    earned,
    figures: {
      totalSales: left.filter((sale) => sale.left > 0).length,
      totalSaleAmount: left.reduce((sum, sale) => sum + sale.left, 0),
      totalLeads: customers.length,
      totalCommissions: paid + customers.length * leadEarnings,
    },
  }
}
