import { correctSales, highestCustomer, type SoldTo, soldTo } from '../features/customers/service.ts'
import { recordedByCustomer } from '../features/track/service.ts'
import { transaction } from '../platform/postgres.ts'
import { compare, type Handles } from './compare.ts'

type Options = { workspaceId?: string; repair?: boolean; customersAtOnce?: number }
type Sold = Pick<SoldTo, 'sales' | 'saleAmount'>

/** A customer whose sales totals differ from the customer's recorded sales and refunds. */
export type CustomerFinding = {
  customerId: string
  workspaceId: string
  counted: Sold
  recorded: Sold
  repaired: boolean
}
type Numbered = CustomerFinding & { number: bigint }

/** Compares customers' sales totals with their recorded sales and refunds, some thousand customers at a time. */
export async function* reconcileCustomers(platform: Handles, options: Options) {
  const { workspaceId, customersAtOnce: count = 10_000, repair = false } = options
  const highest = await highestCustomer(platform)
  const read = async (platform: Handles, after: bigint, suspects?: Numbered[]) => {
    const numbers = suspects?.map(({ number }) => number)
    const customers = await soldTo(platform, numbers ? { numbers } : { workspaceId, after, count })
    const next = customers.length < count ? undefined : customers.at(-1)?.number
    const percent = next === undefined ? 100 : Math.min(100, Number((next * 100n) / (highest || 1n)))
    return { findings: await findDifferences(platform, customers), percent, next }
  }
  const steps = compare(
    platform,
    {
      first: -1n,
      read,
      findBucket: ({ number }) => String(number),
      // Workers need not pause: a sale and its customer's totals change in one transaction, and reading locks the totals.
      pause: (platform, _, work) => transaction(platform, (platform) => work(platform, true)),
      repair: setSales,
    },
    repair,
  )
  for await (const { findings, percent } of steps)
    yield { findings: findings.map(({ number, ...finding }): CustomerFinding => finding), percent }
}

async function findDifferences({ db }: Handles, customers: SoldTo[]): Promise<Numbered[]> {
  const findings: Numbered[] = []
  for (const [workspaceId, mine] of Map.groupBy(customers, (customer) => customer.workspaceId)) {
    const ids = mine.map(({ id }) => id)
    const sold = await recordedByCustomer({ db, workspaceId }, ids)
    for (const { number, id: customerId, sales, saleAmount } of mine) {
      const recorded = sold.get(customerId) ?? { sales: 0, saleAmount: 0 }
      if (sales === recorded.sales && saleAmount === recorded.saleAmount) continue
      findings.push({ number, customerId, workspaceId, counted: { sales, saleAmount }, recorded, repaired: false })
    }
  }
  return findings
}

async function setSales(platform: Handles, findings: Numbered[]): Promise<Numbered[]> {
  const sales = findings.map(({ number, recorded }) => ({ number, ...recorded }))
  if (sales.length > 0) await correctSales(platform, sales)
  return findings.map((finding) => ({ ...finding, repaired: true }))
}
