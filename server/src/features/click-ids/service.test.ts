import { createHash, createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseKeys } from '../../platform/seal.ts'
import {
  type ClickVisit,
  clickHour,
  clickIdBytes,
  clickIdText,
  clickKeys,
  mintClickId,
  readClickId,
  visitorShare,
} from './service.ts'

const hexA = 'a1'.repeat(32)
const hexB = 'b2'.repeat(32)
const keysFrom = (text: string) => clickKeys({ CLICK_ID_KEYS: parseKeys(text) })
const keys = keysFrom(`1:${hexA}`)
const hourMs = 3_600_000
const alphabet = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_']

const anyLinkNumber = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const anyIp = fc.oneof(fc.ipV4(), fc.ipV6())
const anyAt = fc.integer({ min: 0, max: 2 ** 24 * hourMs - 1 })
const anyUserAgent = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'grapheme', minLength: 1500, maxLength: 3000, size: 'max' }),
)
const anyVisit: fc.Arbitrary<ClickVisit> = fc.record({
  linkNumber: anyLinkNumber,
  ip: anyIp,
  userAgent: anyUserAgent,
  at: anyAt,
})

describe('a click id', () => {
  test('decodes to its link number and hour', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        const read = readClickId(keys, mintClickId(keys, visit))
        expect(read).toEqual({ linkNumber: visit.linkNumber, hour: Math.floor(visit.at / hourMs) })
      }),
    )
  })

  test('equals a plain keyed hash, byte for byte', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        expect(mintClickId(keys, visit)).toBe(plainClickId(1, hexA, visit))
      }),
    )
  })

  test('has 40 characters that need no escaping in a URL', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        const text = mintClickId(keys, visit)
        expect(text).toMatch(/^[A-Za-z0-9_-]{40}$/)
        expect(encodeURIComponent(text)).toBe(text)
        expect(clickIdBytes(text)).toHaveLength(30)
        expect(clickIdText(clickIdBytes(text))).toBe(text)
      }),
    )
  })

  test('is the same for the same visitor, link and hour', () => {
    fc.assert(
      fc.property(anyVisit, fc.nat(hourMs - 1), (visit, offsetMs) => {
        const at = visit.at - (visit.at % hourMs) + offsetMs
        expect(mintClickId(keys, { ...visit, at })).toBe(mintClickId(keys, visit))
      }),
    )
  })

  test('differs for another ip, user agent, link or hour', () => {
    fc.assert(
      fc.property(anyVisit, anyVisit, (visit, other) => {
        const text = mintClickId(keys, visit)
        const changes: Partial<ClickVisit>[] = [
          { ip: other.ip },
          { userAgent: other.userAgent },
          { linkNumber: other.linkNumber },
          { at: other.at },
        ]
        for (const change of changes) {
          const changed = { ...visit, ...change }
          const same = JSON.stringify(sameness(changed)) === JSON.stringify(sameness(visit))
          expect(mintClickId(keys, changed) === text).toBe(same)
        }
      }),
    )
  })

  test('differs for another key id and for another secret, in the visitor hash too', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        const text = mintClickId(keys, visit)
        const otherId = mintClickId(keysFrom(`2:${hexA}`), visit)
        const otherSecret = mintClickId(keysFrom(`1:${hexB}`), visit)
        expect(otherId).not.toBe(text)
        expect(clickIdBytes(otherSecret).subarray(12, 21)).not.toEqual(clickIdBytes(text).subarray(12, 21))
      }),
    )
  })

  test('differs when characters move from ip to user agent', () => {
    const visit = { linkNumber: 7n, at: 0 }
    const left = mintClickId(keys, { ...visit, ip: '1.1.1.1', userAgent: '1 x' })
    const right = mintClickId(keys, { ...visit, ip: '1.1.1.11', userAgent: ' x' })
    expect(left).not.toBe(right)
  })

  test('still verifies after a key rotation, until its key is removed', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        const text = mintClickId(keys, visit)
        expect(readClickId(keysFrom(`2:${hexB},1:${hexA}`), text)?.linkNumber).toBe(visit.linkNumber)
        expect(readClickId(keysFrom(`2:${hexB}`), text)).toBeNull()
      }),
    )
  })
})

describe('readClickId refuses a text', () => {
  test('when a single character was changed', () => {
    fc.assert(
      fc.property(anyVisit, fc.nat(39), fc.constantFrom(...alphabet), (visit, index, character) => {
        const text = mintClickId(keys, visit)
        fc.pre(text[index] !== character)
        expect(readClickId(keys, text.slice(0, index) + character + text.slice(index + 1))).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })

  test('when a single bit was changed', () => {
    const bytes = clickIdBytes(mintClickId(keys, { linkNumber: 5n, ip: '::1', userAgent: 'x', at: Date.UTC(2025, 0) }))
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes)
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(readClickId(keys, clickIdText(changed))).toBeNull()
    }
  })

  test('when it was signed with another secret under the same key id', () => {
    fc.assert(
      fc.property(anyVisit, (visit) => {
        expect(readClickId(keys, mintClickId(keysFrom(`1:${hexB}`), visit))).toBeNull()
      }),
    )
  })

  test('when it is any other text', () => {
    const likeAnId = fc.string({ unit: fc.constantFrom(...alphabet), minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), likeAnId), (text) => {
        expect(readClickId(keys, text)).toBeNull()
      }),
      { numRuns: 1000 },
    )
  })

  const good = mintClickId(keys, { linkNumber: 1n, ip: '203.0.113.9', userAgent: 'test', at: Date.UTC(2025, 0) })
  test.each([
    ['shorter', good.slice(1)],
    ['longer', `${good}A`],
    ['padded', `${good.slice(0, 39)}=`],
    ['with a line end', `${good.slice(0, 39)}\n`],
    ['followed by a line end', `${good}\n`],
    ['of the other base64 alphabet', `+/${good.slice(2)}`],
    ['of 40 characters beyond ASCII', 'é'.repeat(40)],
    ['version 2', clickIdText(withFirstByte(good, 0x21))],
    ['of an unknown key', clickIdText(withFirstByte(good, 0x1f))],
  ])('when it is %s', (_name, text) => {
    expect(readClickId(keys, text)).toBeNull()
  })
})

test('click ids of the wrong size, as bytes or text, are errors', () => {
  expect(() => clickIdBytes('abc')).toThrow('expected 40 characters')
  expect(() => clickIdText(new Uint8Array(29))).toThrow('expected 30 bytes, got 29')
})

test('clickIdText encodes only its own bytes of a larger buffer', () => {
  const text = mintClickId(keys, { linkNumber: 1n, ip: '203.0.113.9', userAgent: 'test', at: 0 })
  const large = new Uint8Array(100)
  large.set(clickIdBytes(text), 33)
  expect(clickIdText(large.subarray(33, 63))).toBe(text)
})

test.each([-1, Number.NaN, 2 ** 24 * hourMs])('clickHour refuses the time %d', (at) => {
  expect(() => clickHour(at)).toThrow('1970 to 3883')
})

test('minting a click id fails when the current key has no secret', () => {
  const visit = { linkNumber: 1n, ip: '', userAgent: '', at: 0 }
  expect(() => mintClickId({ ...keys, current: 3 }, visit)).toThrow('CLICK_ID_KEYS has no secret for the current key 3')
})

describe("a visitor's A/B test share", () => {
  const findShare = (visitor: number, link = 7n) =>
    visitorShare(keys, link, `10.0.${visitor >> 8}.${visitor & 255}`, 'x')

  test('is from 0 to below 1, and always the same', () => {
    fc.assert(
      fc.property(anyVisit, ({ linkNumber, ip, userAgent }) => {
        const share = visitorShare(keys, linkNumber, ip, userAgent)
        expect(share >= 0 && share < 1).toBe(true)
        mintClickId(keys, { linkNumber: 1n, ip: '', userAgent: 'someone else', at: 0 })
        expect(visitorShare(keys, linkNumber, ip, userAgent)).toBe(share)
      }),
    )
  })

  test('is distributed evenly: every tenth gets a tenth of 20,000 visitors, within 8 %', () => {
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let visitor = 0; visitor < 20_000; visitor++) {
      const tenth = Math.floor(findShare(visitor) * 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    for (const count of tenths) expect(Math.abs(count - 2_000)).toBeLessThan(160)
  })

  test('on one link is independent of the share on another', () => {
    let both = 0
    for (let visitor = 0; visitor < 10_000; visitor++) {
      if (findShare(visitor) < 0.5 && findShare(visitor, 8n) < 0.5) both += 1
    }
    expect(Math.abs(both - 2_500)).toBeLessThan(200)
  })

  test("differs for another address and another user agent, and can't be computed without the secret", () => {
    const share = visitorShare(keys, 7n, '203.0.113.9', 'x')
    expect(visitorShare(keys, 7n, '203.0.113.8', 'x')).not.toBe(share)
    expect(visitorShare(keys, 7n, '203.0.113.9', 'y')).not.toBe(share)
    expect(visitorShare(keysFrom(`1:${hexB}`), 7n, '203.0.113.9', 'x')).not.toBe(share)
  })

  test('stays the same when a new key is added before the old one', () => {
    const rotated = keysFrom(`2:${hexB},1:${hexA}`)
    expect(visitorShare(rotated, 7n, '203.0.113.9', 'x')).toBe(visitorShare(keys, 7n, '203.0.113.9', 'x'))
  })
})

function plainClickId(keyId: number, secretHex: string, visit: ClickVisit): string {
  const subkey = (name: string) => createHmac('sha256', Buffer.from(secretHex, 'hex')).update(name).digest()
  const head = Buffer.alloc(12)
  head[0] = 16 + keyId
  head.writeUIntBE(Math.floor(visit.at / hourMs), 1, 3)
  head.writeBigUInt64BE(visit.linkNumber, 4)
  const keyed = (name: string) => createHash('sha256').update(subkey(name)).update(Buffer.alloc(32))
  const visitor = keyed('visitor').update(head.subarray(1)).update(`${visit.ip}\0${visit.userAgent}`).digest()
  const signed = Buffer.concat([head, visitor.subarray(0, 9)])
  const tag = keyed('tag').update(signed).digest()
  return Buffer.concat([signed, tag.subarray(0, 9)]).toString('base64url')
}

function sameness(visit: ClickVisit) {
  return [visit.linkNumber.toString(), visit.ip, visit.userAgent, Math.floor(visit.at / hourMs)]
}

function withFirstByte(text: string, byte: number): Buffer {
  const bytes = clickIdBytes(text)
  bytes[0] = byte
  return bytes
}
