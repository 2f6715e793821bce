import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { deleteOldest, saveChains, selectChainsForUpdate, selectExpiredChains } from './chain-store.ts'
import { installation, recordEvent } from './record.ts'
import { signChain } from './seal-entries.ts'
import { deleteCounts, deleteNetworks } from './store.ts'

const dayMs = 24 * 3_600_000
const chainsAtOnce = 100
const entriesAtOnce = 1_000

type Handles = Pick<Platform, 'db' | 'config' | 'now'>

/** Deletes entries older than AUDIT_RETENTION_DAYS, always the oldest of a chain, and remembers where the rest begins. */
export async function removeExpired(platform: Handles, signal?: AbortSignal): Promise<void> {
  const before = new Date(platform.now().getTime() - platform.config.AUDIT_RETENTION_DAYS * dayMs)
  await deleteNetworks(platform.db, before)
  for (;;) {
    const names = await selectExpiredChains(platform.db, before, chainsAtOnce)
    for (const name of names) while (!signal?.aborted && (await removeSome(platform, name, before)));
    if (names.length < chainsAtOnce || signal?.aborted) return
  }
}

function removeSome(platform: Handles, name: string, before: Date): Promise<boolean> {
  return transaction(platform, async ({ db, config }) => {
    const [chain] = await selectChainsForUpdate(db, [name])
    if (!chain) return false
    const last = await deleteOldest(db, name, { after: chain.removed_sequence, before, count: entriesAtOnce })
    if (!last) return false
    const removed = { removed_sequence: last.sequence, removed_hash: last.hash }
    await saveChains(db, [signChain({ config }, { ...chain, ...removed })])
    return true
  })
}

/** Records how often each limited event happened in the hours that are over. */
export async function recordCounts(platform: Handles): Promise<void> {
  await transaction(platform, async (platform) => {
    for (const { name, hour, count } of await deleteCounts(platform.db, platform.now())) {
      const [operation, account] = name.split(' ')
      await recordEvent(platform, {
        operation: `${operation}.hour`,
        actor: { kind: 'system', id: 'system' },
        workspaceId: installation,
        ...(account && { target: { kind: 'account', ids: [account] } }),
        details: { hour: hour.toISOString(), count: Number(count) },
      })
    }
  })
}
