import { correctSales, highestCustomer, type SoldTo, soldTo } from '../features/customers/service.ts'
import { recordedByCustomer } from '../features/track/service.ts'
import type { Platform } from '../platform/context.ts'
import { transaction } from '../platform/postgres.ts'

type Handles = Pick<Platform, 'db'>
type Options = { workspaceId?: string; repair?: boolean; customersAtOnce?: number }
type Sold = Pick<SoldTo, 'sales' | 'saleAmount'>

/** A customer who is counted to have bought something else than is recorded. */
export type CustomerFinding = {
  customerId: string
  workspaceId: string
  counted: Sold
  recorded: Sold
  repaired: boolean
}
export type CustomerStep = { customers: number; findings: CustomerFinding[]; percent: number }

/** Compares what customers are counted to have bought with their sales and refunds, some thousand at a time. */
export async function* reconcileCustomers(platform: Handles, options: Options): AsyncGenerator<CustomerStep> {
  const { workspaceId, customersAtOnce = 10_000 } = options
  const highest = await highestCustomer(platform)
  let after = -1n
  for (;;) {
    const customers = await soldTo(platform, { workspaceId, after, count: customersAtOnce })
    const wrong = (await compareCustomers(platform, customers)).map(({ number }) => number)
    const findings = wrong.length > 0 ? await lookAtCustomersAgain(platform, wrong, options.repair) : []
    after = customers.at(-1)?.number ?? after
    const isEnd = customers.length < customersAtOnce
    const percent = isEnd ? 100 : Math.min(100, Number((after * 100n) / (highest || 1n)))
    yield { customers: customers.length, findings, percent }
    if (isEnd) return
  }
}

type Difference = SoldTo & { recorded: Sold }

async function compareCustomers({ db }: Handles, customers: SoldTo[]): Promise<Difference[]> {
  const wrong: Difference[] = []
  for (const [workspaceId, mine] of Map.groupBy(customers, (customer) => customer.workspaceId)) {
    const ids = mine.map(({ id }) => id)
    const sold = await recordedByCustomer({ db, workspaceId }, ids)
    for (const customer of mine) {
      const recorded = sold.get(customer.id) ?? { sales: 0, saleAmount: 0 }
      const isRight = customer.sales === recorded.sales && customer.saleAmount === recorded.saleAmount
      if (!isRight) wrong.push({ ...customer, recorded })
    }
  }
  return wrong
}

/** A sale changes both in one transaction, which waits while we hold its customer. */
function lookAtCustomersAgain(platform: Handles, numbers: bigint[], repair = false): Promise<CustomerFinding[]> {
  return transaction(platform, async (platform) => {
    const wrong = await compareCustomers(platform, await soldTo(platform, { numbers }))
    const right = wrong.map(({ number, recorded }) => ({ number, ...recorded }))
    if (repair && right.length > 0) await correctSales(platform, right)
    return wrong.map(({ id, workspaceId, sales, saleAmount, recorded }) => {
      return { customerId: id, workspaceId, counted: { sales, saleAmount }, recorded, repaired: repair }
    })
  })
}
