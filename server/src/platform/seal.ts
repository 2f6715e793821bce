import { createCipheriv, createDecipheriv, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Encryption or signing keys by id, newest first. */
export type SecretKeys = { current: number; secrets: Map<number, Buffer> }

const nonceBytes = 12
const tagBytes = 16

/** Parses `1:<64 hex digits>,0:<64 hex digits>`: the first key encrypts or signs, the others only decrypt or verify. */
export function parseKeys(text: string, maxId = 255): SecretKeys {
  const secrets = new Map<number, Buffer>()
  const entries = text.split(',').map((entry) => entry.trim())
  for (const [index, entry] of entries.entries()) {
    const [, id, hex] = /^(\d+):([0-9a-f]{64})$/i.exec(entry) ?? []
    const key = `key ${index + 1} of ${entries.length}`
    if (id === undefined || hex === undefined) {
      throw new Error(`${key} is malformed: write it as <id 0 to ${maxId}>:<64 hex digits>, separated by commas`)
    }
    if (Number(id) > maxId) throw new Error(`${key} has id ${id}: use an id from 0 to ${maxId}`)
    if (secrets.has(Number(id))) throw new Error(`${key} repeats id ${Number(id)}: give every key a unique id`)
    secrets.set(Number(id), Buffer.from(hex, 'hex'))
  }
  return { current: [...secrets.keys()][0] as number, secrets }
}

/** Encrypts with AES-256-GCM. `purpose` is authenticated, so that the value can't be copied to another field. */
export function seal(keys: SecretKeys, purpose: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', findSecret(keys, keys.current), nonce).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(keys.current), nonce, cipher.getAuthTag(), sealed])
}

export function unseal(keys: SecretKeys, purpose: string, bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes)
  const secret = findSecret(keys, buffer[0] ?? -1)
  const text = 1 + nonceBytes + tagBytes
  const opener = createDecipheriv('aes-256-gcm', secret, buffer.subarray(1, 1 + nonceBytes))
    .setAAD(Buffer.from(purpose))
    .setAuthTag(buffer.subarray(1 + nonceBytes, text))
  return Buffer.concat([opener.update(buffer.subarray(text)), opener.final()]).toString('utf8')
}

/** Compares passwords in constant time, after Unicode normalization: keyboards compose accented letters in two ways. */
export function isSamePassword(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => hash('sha256', text.normalize('NFC'), 'buffer'))
  return timingSafeEqual(left as Buffer, right as Buffer)
}

function findSecret(keys: SecretKeys, id: number): Buffer {
  const secret = keys.secrets.get(id)
  if (!secret) throw new Error(`The secret was encrypted with key ${id}, which is not in ENCRYPTION_KEYS`)
  return secret
}
