import { randomBytes } from 'node:crypto'
import { openByteCache } from '../../platform/byte-cache.ts'
import type { Config } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { memoByObject } from '../../platform/memo.ts'
import { type SecretKeys, seal, unseal } from '../../platform/seal.ts'
import { deletePersonKeys, insertPersonKeys, type PersonKeyRow, selectPersonKeys } from './store.ts'

/* Each person has a key, which encrypts the person's values in entries. Deleting the key erases them. */

type Handles = Pick<Platform, 'db' | 'config'>
export type PersonKeys = Map<string, SecretKeys>

// The key of a deleted user is in memory for this long; entries that it encrypts can't be read.
const cachedMs = 60_000
const actorKeys = memoByObject((_: Config) =>
  openByteCache<SecretKeys>({ maxBytes: 4_000_000, ttlMs: cachedMs, measure: () => 300 }),
)

/** Reads the keys of persons; erased persons have none. */
export async function readKeys({ db, config }: Handles, persons: string[]): Promise<PersonKeys> {
  if (persons.length === 0) return new Map()
  const rows = await selectPersonKeys(db, [...new Set(persons)])
  return new Map(rows.map((row) => [row.person, openKey(config, row)]))
}

/** Reads the keys of persons, and creates missing ones. */
export async function makeKeys(handles: Handles, persons: string[]): Promise<PersonKeys> {
  const known = await readKeys(handles, persons)
  const missing = [...new Set(persons)].filter((person) => !known.has(person)).sort()
  if (missing.length === 0) return known
  const { db, config } = handles
  const rows = missing.map((person) => {
    const text = randomBytes(32).toString('base64')
    return { person, sealed_key: seal(config.ENCRYPTION_KEYS, purpose(person), text) }
  })
  await insertPersonKeys(db, rows)
  // Another request may have created one of them.
  return new Map([...known, ...(await readKeys(handles, missing))])
}

/** Returns the key of an actor, cached. Outside a transaction only, because a rollback would remove a new key. */
export async function loadActorKey(handles: Handles, actorId: string): Promise<void> {
  const cache = actorKeys(handles.config)
  if (cache.has(actorId)) return
  const key = (await makeKeys(handles, [actorId])).get(actorId)
  if (key) cache.set(actorId, key)
}

export function cachedActorKey({ config }: Pick<Platform, 'config'>, actorId: string): SecretKeys | undefined {
  return actorKeys(config).get(actorId)
}

export async function forgetKeys({ db, config }: Handles, persons: string[]): Promise<void> {
  for (const person of persons) actorKeys(config).delete(person)
  await deletePersonKeys(db, persons)
}

export function sealFor(keys: SecretKeys, person: string, value: unknown): Buffer {
  return seal(keys, purpose(person), JSON.stringify(value))
}

/** Decrypts a value; undefined when the key is not the one that encrypted it. */
export function openFor(keys: SecretKeys | undefined, person: string, sealed: Uint8Array): unknown {
  if (!keys) return undefined
  try {
    return JSON.parse(unseal(keys, purpose(person), sealed))
  } catch {
    return undefined
  }
}

function openKey(config: Config, { person, sealed_key }: PersonKeyRow): SecretKeys {
  const text = unseal(config.ENCRYPTION_KEYS, purpose(person), sealed_key)
  return { current: 0, secrets: new Map([[0, Buffer.from(text, 'base64')]]) }
}

function purpose(person: string): string {
  return `audit ${person}`
}
