import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { hashChain, hashEntry } from './chain.ts'
import {
  type ChainRow,
  lockSealing,
  type SealedRow,
  saveChains,
  sealRows,
  selectChainsForUpdate,
  selectUnsealed,
} from './chain-store.ts'

const sealedAtOnce = 500

type Handles = Pick<Platform, 'db' | 'config'>

/** Seals entries until none is left: gives each the next number of its chain and the hash over all before it. */
export async function sealEntries(platform: Handles, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await sealSome(platform)) === sealedAtOnce);
}

function sealSome(platform: Handles): Promise<number> {
  return transaction(platform, async ({ db, config }) => {
    if (!(await lockSealing(db))) return 0
    const rows = await selectUnsealed(db, sealedAtOnce)
    if (rows.length === 0) return 0
    const keys = config.ENCRYPTION_KEYS
    const names = [...new Set(rows.map((row) => row.workspace_id))]
    const chains = new Map(names.map((name) => [name, emptyChain(name)]))
    for (const chain of await selectChainsForUpdate(db, names)) chains.set(chain.workspace_id, chain)
    const sealed: SealedRow[] = rows.map((row) => {
      const chain = chains.get(row.workspace_id) as ChainRow
      const sequence = chain.sequence + 1n
      const hash = hashEntry(keys, keys.current, row, { sequence, previous: chain.hash })
      chains.set(row.workspace_id, { ...chain, sequence, hash })
      return { ...row, sequence, hash, hash_key: keys.current }
    })
    await sealRows(db, sealed)
    await saveChains(
      db,
      [...chains.values()].map((chain) => signChain({ config }, chain)),
    )
    return rows.length
  })
}

/** Returns the chain with the hash that authenticates its ends. */
export function signChain({ config }: Pick<Platform, 'config'>, chain: ChainRow): ChainRow {
  const keys = config.ENCRYPTION_KEYS
  return { ...chain, mac: hashChain(keys, keys.current, chain), hash_key: keys.current }
}

function emptyChain(name: string): ChainRow {
  const none = Buffer.alloc(0)
  return {
    workspace_id: name,
    sequence: 0n,
    hash: none,
    removed_sequence: 0n,
    removed_hash: none,
    mac: none,
    hash_key: 0,
  }
}
