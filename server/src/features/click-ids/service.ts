import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../../platform/config.ts'
import { memoByObject } from '../../platform/memo.ts'
import type { SecretKeys } from '../../platform/seal.ts'

export type ClickKeys = { current: number; secrets: Map<number, ClickSecret> }
/** Derived keys; each is padded to one SHA-256 block. */
export type ClickSecret = { visitor: Buffer; tag: Buffer; share: Buffer }
export type ClickVisit = { linkNumber: bigint; ip: string; userAgent: string; at: number }

// A click id has 30 bytes: version and key id 1, hour 3, link number 8, visitor hash 9, authentication tag 9.
const version = 1
const tokenBytes = 30
const textLength = 40
const visitorAt = 12
const tagAt = 21
const macBytes = tokenBytes - tagAt
const hourMs = 3_600_000
const lastHour = 0xffffff
const blockBytes = 64

export function clickKeys({ CLICK_ID_KEYS }: Pick<Config, 'CLICK_ID_KEYS'>): ClickKeys {
  return deriveKeys(CLICK_ID_KEYS)
}

const deriveKeys = memoByObject(({ current, secrets }: SecretKeys) => {
  return { current, secrets: new Map([...secrets].map(([id, secret]) => [id, deriveSubkeys(secret)])) }
})

/** Creates a signed click id; a visitor gets the same id for all clicks on a link within an hour. */
export function mintClickId(keys: ClickKeys, visit: ClickVisit): string {
  const secret = keys.secrets.get(keys.current)
  if (!secret) throw new Error(`CLICK_ID_KEYS has no secret for the current key ${keys.current}`)
  token[0] = (version << 4) | keys.current
  token.writeUIntBE(clickHour(visit.at), 1, 3)
  token.writeBigUInt64BE(visit.linkNumber, 4)
  token.write(visitorMac(secret.visitor, linkAndHour, visit.ip, visit.userAgent), visitorAt, macBytes, 'latin1')
  token.write(tagMac(secret), tagAt, macBytes, 'latin1')
  return token.toString('base64url')
}

/**
 * A number from 0 to just below 1 that selects a visitor's A/B test variant: evenly distributed, constant per visitor
 * and link. It uses the oldest key, so that a new key does not reassign all visitors.
 */
export function visitorShare(keys: ClickKeys, linkNumber: bigint, ip: string, userAgent: string): number {
  const oldest = [...keys.secrets.values()].at(-1) as ClickSecret
  linkOnly.writeBigUInt64BE(linkNumber)
  shareBits.write(visitorMac(oldest.share, linkOnly, ip, userAgent), 0, shareBits.length, 'latin1')
  return shareBits.readUIntBE(0, 6) / 2 ** 48
}

/** Verifies a click id and returns its content; null when it was not signed with one of the keys. */
export function readClickId(keys: ClickKeys, text: string): { linkNumber: bigint; hour: number } | null {
  if (!isClickIdText(text)) return null
  token.write(text, 'base64url')
  const first = token.readUInt8(0)
  const secret = keys.secrets.get(first & 15)
  if (first >> 4 !== version || !secret) return null
  expectedTag.write(tagMac(secret), 0, macBytes, 'latin1')
  if (!timingSafeEqual(expectedTag, givenTag)) return null
  return { linkNumber: token.readBigUInt64BE(4), hour: token.readUIntBE(1, 3) }
}

/** The hour since 1970 that a click id created at this time contains. */
export function clickHour(at: number): number {
  const hour = Math.floor(at / hourMs)
  if (!(hour >= 0 && hour <= lastHour)) throw new RangeError(`click id time must be from 1970 to 3883, got ${at} ms`)
  return hour
}

export function clickIdBytes(text: string): Buffer {
  if (!isClickIdText(text)) throw new Error('not a click id: expected 40 characters of A-Z a-z 0-9 - _')
  return Buffer.from(text, 'base64url')
}

export function clickIdText(bytes: Uint8Array): string {
  if (bytes.length !== tokenBytes) throw new Error(`not a click id: expected 30 bytes, got ${bytes.length}`)
  return Buffer.from(bytes.buffer, bytes.byteOffset, tokenBytes).toString('base64url')
}

function isClickIdText(text: string): boolean {
  return text.length === textLength && /^[\w-]+$/.test(text)
}

// Reused buffers: calls are synchronous and never overlap, and allocating buffers per call would halve the speed.
const tagInput = Buffer.alloc(blockBytes + tokenBytes)
const signed = tagInput.subarray(0, blockBytes + tagAt)
const token = tagInput.subarray(blockBytes)
const givenTag = token.subarray(tagAt)
const linkAndHour = token.subarray(1, visitorAt)
const linkOnly = Buffer.alloc(8)
const shareBits = Buffer.alloc(6)
const expectedTag = Buffer.alloc(macBytes)
const visitorInput = Buffer.alloc(4096)

function deriveSubkeys(secret: Uint8Array): ClickSecret {
  const subkey = (name: string) => {
    const key = createHmac('sha256', secret).update(name).digest()
    return Buffer.concat([key], blockBytes)
  }
  return { visitor: subkey('visitor'), tag: subkey('tag'), share: subkey('share') }
}

function visitorMac(key: Buffer, about: Buffer, ip: string, userAgent: string): string {
  const head = blockBytes + about.length
  const room = head + (ip.length + userAgent.length) * 3 + 1
  const input = room <= visitorInput.length ? visitorInput : Buffer.allocUnsafe(room)
  input.set(key)
  input.set(about, blockBytes)
  const afterIp = head + input.write(ip, head)
  input[afterIp] = 0
  const end = afterIp + 1 + input.write(userAgent, afterIp + 1)
  return keyedHash(input.subarray(0, end))
}

function tagMac(secret: ClickSecret): string {
  tagInput.set(secret.tag)
  return keyedHash(signed)
}

/**
 * SHA-256 of the key's block and the text, not HMAC. HMAC's second pass prevents length-extension attacks, which need
 * the whole hash; less than a third of this hash is ever public, so one pass is enough (ADR 0007).
 */
function keyedHash(input: Buffer): string {
  return hash('sha256', input, 'binary')
}
