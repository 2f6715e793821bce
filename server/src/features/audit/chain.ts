import { createHmac } from 'node:crypto'
import type { SecretKeys } from '../../platform/seal.ts'
import type { ChainRow, SealedRow } from './chain-store.ts'

type Content = Pick<SealedRow, 'number' | 'workspace_id' | 'content'>

/** Hashes an entry with its position and the hash before it. Without the key, nobody can compute a matching hash. */
export function hashEntry(
  keys: SecretKeys,
  keyId: number,
  entry: Content,
  { sequence, previous }: { sequence: bigint; previous: Uint8Array },
): Buffer {
  const text = JSON.stringify([entry.workspace_id, String(sequence), String(entry.number), entry.content])
  return createHmac('sha256', chainKey(keys, keyId)).update(previous).update(text).digest()
}

/** Authenticates the ends of a chain, so that a chain can't be shortened by writing an earlier end. */
export function hashChain(keys: SecretKeys, keyId: number, chain: Omit<ChainRow, 'mac' | 'hash_key'>): Buffer {
  const { workspace_id, sequence, hash, removed_sequence, removed_hash } = chain
  const ends = [sequence, hash.toString('base64'), removed_sequence, removed_hash.toString('base64')]
  return createHmac('sha256', chainKey(keys, keyId))
    .update(JSON.stringify(['chain', workspace_id, ...ends.map(String)]))
    .digest()
}

function chainKey({ secrets }: SecretKeys, keyId: number): Buffer {
  const secret = secrets.get(keyId)
  if (!secret) throw new Error(`The audit log was sealed with key ${keyId}, which is not in ENCRYPTION_KEYS`)
  return createHmac('sha256', secret).update('audit chain').digest()
}
