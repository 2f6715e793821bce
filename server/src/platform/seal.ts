import { createCipheriv, createDecipheriv, hash, randomBytes, timingSafeEqual } from 'node:crypto'

export type SealKeys = { current: number; secrets: Map<number, Buffer> }

const nonceBytes = 12
const tagBytes = 16

/** Reads `1:<64 hex digits>,0:<64 hex digits>`: the first key seals, all of them open. */
export function parseSealKeys(text: string): SealKeys {
  const secrets = new Map<number, Buffer>()
  for (const entry of text.split(',')) {
    const [, id, hex] = /^(\d{1,3}):([0-9a-f]{64})$/i.exec(entry.trim()) ?? []
    if (id === undefined || hex === undefined || Number(id) > 255) {
      throw new Error('write each key as <id 0 to 255>:<64 hex digits>, separated by commas')
    }
    if (secrets.has(Number(id))) throw new Error(`the key id ${id} stands there twice`)
    secrets.set(Number(id), Buffer.from(hex, 'hex'))
  }
  return { current: [...secrets.keys()][0] as number, secrets }
}

/** AES-256-GCM: key id, nonce, tag, text. Bound to `purpose`, so that it can't be moved to another place. */
export function seal(keys: SealKeys, purpose: string, text: string): Buffer {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', secretOf(keys, keys.current), nonce).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(keys.current), nonce, cipher.getAuthTag(), sealed])
}

export function unseal(keys: SealKeys, purpose: string, bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes)
  const secret = secretOf(keys, buffer[0] ?? -1)
  const text = 1 + nonceBytes + tagBytes
  const opener = createDecipheriv('aes-256-gcm', secret, buffer.subarray(1, 1 + nonceBytes))
    .setAAD(Buffer.from(purpose))
    .setAuthTag(buffer.subarray(1 + nonceBytes, text))
  return Buffer.concat([opener.update(buffer.subarray(text)), opener.final()]).toString('utf8')
}

/** Takes the same time wherever the difference is. Keyboards compose letters with accents in two ways. */
export function isSamePassword(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => hash('sha256', text.normalize('NFC'), 'buffer'))
  return timingSafeEqual(left as Buffer, right as Buffer)
}

function secretOf(keys: SealKeys, id: number): Buffer {
  const secret = keys.secrets.get(id)
  if (!secret) throw new Error(`The secret was sealed with key ${id}, which ENCRYPTION_KEYS does not have`)
  return secret
}
