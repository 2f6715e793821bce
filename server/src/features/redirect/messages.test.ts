import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openRowWriter } from '../../platform/row-binary.ts'
import { binaryClicks, isRawClick, type RawClick, rawClick, readLogBody, writeClick } from './messages.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: 'binary-ascii', maxLength: 200 }),
  fc.string({ unit: fc.constantFrom('\0', '\n', '"', 'é', '☕', '😀', '\ud800'), maxLength: 60 }),
)
const anyClick: fc.Arbitrary<RawClick> = fc.record({
  id: text,
  at: fc.maxSafeInteger(),
  workspaceId: text,
  linkNumber: text,
  url: text,
  trigger: fc.constantFrom('link', 'qr', 'pageview'),
  ip: text,
  userAgent: text,
  referer: text,
  bot: text,
  country: text,
  region: text,
  city: text,
  continent: text,
})

describe('a message of the event log', () => {
  test('has the clicks that were written, as bytes or as JSON', () => {
    fc.assert(
      fc.property(fc.array(anyClick, { maxLength: 20 }), (clicks) => {
        expect(readLogBody(encode(clicks))).toEqual(clicks.map(wellFormed))
        expect(readLogBody(new TextEncoder().encode(JSON.stringify(clicks)))).toEqual(clicks)
      }),
    )
  })

  test('is read from any place of a larger buffer', () => {
    const clicks = fc.sample(anyClick, 3)
    const bytes = encode(clicks)
    const larger = Buffer.concat([Buffer.from('before'), bytes, Buffer.from('after')])
    expect(readLogBody(larger.subarray(6, 6 + bytes.length))).toEqual(clicks.map(wellFormed))
  })

  test('that ends too early or has other bytes is an error or no click, and never more memory', () => {
    const whole = fc.array(anyClick, { minLength: 1, maxLength: 3 }).map(encode)
    const cut = fc.tuple(whole, fc.nat()).map(([bytes, at]) => bytes.subarray(0, 2 + (at % (bytes.length - 2))))
    const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from([binaryClicks, ...bytes]))
    fc.assert(
      fc.property(fc.oneof(cut, random), (bytes) => {
        try {
          const read = readLogBody(bytes) as object[]
          expect(JSON.stringify(read).length).toBeLessThan(20 * bytes.length + 400)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

test('isRawClick accepts exactly what the schema accepts', () => {
  const other = fc.oneof(fc.constant(undefined), fc.constant(null), fc.string(), fc.double(), fc.constant({}))
  const changed = fc
    .tuple(anyClick, fc.constantFrom(...Object.keys(rawClick.shape)), other)
    .map(([click, name, value]) => ({ ...click, [name]: value }))
  fc.assert(
    fc.property(fc.oneof(anyClick, changed, other), (value) => {
      expect(isRawClick(value)).toBe(rawClick.safeParse(value).success)
    }),
    { numRuns: 1_000 },
  )
})

function encode(clicks: RawClick[]): Buffer {
  const writer = openRowWriter(1)
  writer.uint8(binaryClicks)
  for (const click of clicks) writeClick(writer, click)
  return writer.finish()
}

function wellFormed(click: RawClick): RawClick {
  const entries = Object.entries(click).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.toWellFormed() : value,
  ])
  return Object.fromEntries(entries)
}
