import type { Platform } from '../../platform/context.ts'
import type { CustomerErased } from '../customers/messages.ts'
import { eraseCustomers } from '../event-storage/service.ts'
import { areUnderWay, clearPersonalData } from './store.ts'

/**
 * Empties the metadata of erased customers' conversions: first in PostgreSQL, then in ClickHouse. A batch between the
 * two may still carry it, so the message is redelivered until that batch is stored.
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
      throw new Error(`Conversions of erased customers in ${workspaceId} are still being exported to ClickHouse`)
    }
    await eraseCustomers(platform, workspaceId, ids)
  }
}
