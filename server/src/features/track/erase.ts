import type { Platform } from '../../platform/context.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { eraseCustomers } from '../event-storage/service.ts'
import { areUnderWay, clearPersonalData } from './store.ts'

/**
 * Empties what was sent along with the conversions of customers who were erased: first where it is exported from, then
 * where it was exported to. A batch between the two may still carry it, so that is waited for: the message comes again.
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
      throw new Error(`Conversions of customers to erase in ${workspaceId} are on their way to ClickHouse`)
    }
    await eraseCustomers(platform, workspaceId, ids)
  }
}
