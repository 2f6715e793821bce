import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anyClick } from '../../../test/raw-clicks.ts'
import { openClickBody } from '../redirect/click-body.ts'
import type { RawClick } from '../redirect/messages.ts'
import { binaryClicks } from '../redirect/messages.ts'
import { readLogBody } from './log-body.ts'

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

function encode(clicks: RawClick[]): Buffer {
  const body = openClickBody('binary')
  for (const click of clicks) body.add(click)
  return body.finish() as Buffer
}

function wellFormed(click: RawClick): RawClick {
  const entries = Object.entries(click).map(([name, value]) => [
    name,
    typeof value === 'string' ? value.toWellFormed() : value,
  ])
  return Object.fromEntries(entries)
}
