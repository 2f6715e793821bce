import type { Platform } from '../../platform/context.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { customersById } from '../customers/service.ts'
import { eraseAddresses, eraseCustomers } from '../event-storage/service.ts'
import { locateCustomerClicks } from './journeys.ts'
import { areUnderWay, clearPersonalData } from './store.ts'

/**
 * Erases the metadata and addresses of erased customers' clicks, leads and sales in PostgreSQL, then in ClickHouse. Throws
 * while a batch on its way to ClickHouse may contain them, so that the message is redelivered until the batch is stored.
 */
export async function eraseConversions(
  platform: Pick<Platform, 'db' | 'clickhouse' | 'config'>,
  erased: CustomerErased[],
): Promise<void> {
  const byWorkspace = Map.groupBy(erased, ({ workspaceId }) => workspaceId)
  for (const [workspaceId, customers] of byWorkspace) {
    const ids = customers.map(({ customerId }) => customerId)
    await clearPersonalData(platform.db, workspaceId, ids)
    if (await areUnderWay(platform.db, workspaceId, ids)) {
      throw new Error(`Leads or sales of erased customers in ${workspaceId} are still being exported to ClickHouse`)
    }
    await eraseCustomers(platform, workspaceId, ids)
    const persons = await customersById({ ...platform, workspaceId }, ids)
    for await (const clicks of locateCustomerClicks({ ...platform, workspaceId }, [...persons.values()]))
      await eraseAddresses(platform, workspaceId, clicks)
  }
}
