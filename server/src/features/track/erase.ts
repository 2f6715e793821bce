import type { Platform } from '../../platform/context.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { type Customer, customersById } from '../customers/service.ts'
import { eraseAddresses, eraseCustomers } from '../event-storage/service.ts'
import { isLogStored } from '../ingest/service.ts'
import { locateCustomerClicks } from './journeys.ts'
import { areUnderWay, clearPersonalData } from './store.ts'

/**
 * Erases the metadata and addresses of erased customers' clicks, leads and sales in PostgreSQL, then in ClickHouse. Throws
 * while a batch or the event log may contain some that are not in ClickHouse yet, so that the message is redelivered.
 */
export async function eraseConversions(
  platform: Pick<Platform, 'db' | 'clickhouse' | 'config' | 'nats'>,
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
    const persons = [...(await customersById({ ...platform, workspaceId }, ids)).values()]
    // Before the addresses are erased, so that no click is stored in between.
    const isStored = await areClicksStored(platform, persons)
    for await (const clicks of locateCustomerClicks({ ...platform, workspaceId }, persons))
      await eraseAddresses(platform, workspaceId, clicks)
    if (!isStored) throw new Error(`Clicks of erased customers in ${workspaceId} may still be in the event log`)
  }
}

/** Whether the event log has no more clicks from before the customers were erased. */
export async function areClicksStored(
  platform: Pick<Platform, 'config' | 'db' | 'nats'>,
  persons: Pick<Customer, 'erased_at'>[],
): Promise<boolean> {
  const times = persons.flatMap(({ erased_at }) => (erased_at ? [erased_at.getTime()] : []))
  return times.length === 0 || isLogStored(platform, new Date(Math.max(...times)))
}
