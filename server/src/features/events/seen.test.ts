import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addSeen, emptySeen, forgetSeen, keepSeen, lateMs } from './seen.ts'

const row = (mark: number, stored: number) => ({ mark: String(mark), stored, at: stored, id: `e${mark}` })

test("a sent row advances the stream's position, and a late row does not", () => {
  const seen = emptySeen(100)
  addSeen(seen, row(1, 200), false)
  addSeen(seen, row(2, 300), false)
  addSeen(seen, row(4, 150), true)
  expect(seen).toMatchObject({ floor: 100, position: { stored: 300, at: 300, id: 'e2' }, sum: 7n })
  addSeen(seen, row(4, 150), true)
  expect(seen.sum).toBe(7n)
  keepSeen(seen, new Set(['1', '2']))
  expect([...seen.marks.keys()]).toEqual(['1', '2'])
  expect(seen.sum).toBe(3n)
})

test('a stream remembers the rows of the last minute, up to a maximum number', () => {
  const seen = emptySeen(0)
  for (let index = 1; index <= 60_000; index++) addSeen(seen, row(index, index), false)
  forgetSeen(seen)
  expect(seen.marks.size).toBeLessThanOrEqual(25_000)
  addSeen(seen, row(70_000, 60_000 + 2 * lateMs), false)
  forgetSeen(seen)
  expect(seen.floor).toBe(60_000 + lateMs)
  expect([...seen.marks.keys()]).toEqual(['70000'])
})

test("a stream's checksum covers the remembered rows, and `floor` stays below its position", () => {
  const step = fc.record({ mark: fc.integer({ min: 1, max: 50 }), late: fc.boolean(), stored: fc.nat(200_000) })
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const seen = emptySeen(0)
      for (const { mark, late, stored } of steps) {
        const moment = late ? stored : Math.max(seen.position.stored, stored)
        if (moment > seen.floor) addSeen(seen, row(mark, moment), late)
        forgetSeen(seen)
        expect(seen.sum).toBe([...seen.marks.keys()].reduce((sum, one) => sum ^ BigInt(one), 0n))
        expect([...seen.marks.values()].every((one) => one > seen.floor)).toBe(true)
        if (seen.floor > 0) expect(seen.floor).toBeLessThan(seen.position.stored)
      }
    }),
  )
})
