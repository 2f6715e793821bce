import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cutPart, partWith } from './part.ts'

const dayMs = 86_400_000
const year = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2027-01-01T00:00:00Z') }

describe('the part of a period that is read for a page at a large offset', () => {
  test('the part is as long as needed, and found with few count queries', async () => {
    const counted: number[] = []
    const part = await partWith(100_000, year, false, async ({ from, to }) => {
      counted.push((to.getTime() - from.getTime()) / dayMs)
      return Math.floor(((to.getTime() - from.getTime()) / dayMs) * 48_000)
    })
    expect(part.to).toEqual(year.to)
    expect(counted).toEqual([1, 3.125])
  })

  test('the part is the whole period when the period is short or has few events', async () => {
    expect(await partWith(100_000, year, false, async () => 3)).toEqual(year)
    const day = { from: year.from, to: new Date(year.from.getTime() + dayMs) }
    expect(await partWith(100_000, day, true, () => Promise.reject(new Error('must not be called')))).toEqual(day)
  })

  test('the part contains the events of the page, whenever they happened', async () => {
    const days = fc.array(fc.double({ min: 0, max: 365, maxExcluded: true, noNaN: true }), { maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(days, fc.nat(250), fc.boolean(), async (days, needed, ascending) => {
        const times = days
          .map((day) => year.from.getTime() + Math.floor(day * dayMs))
          .sort((a, b) => (ascending ? a - b : b - a))
        const within = ({ from, to }: typeof year) =>
          times.filter((time) => time >= from.getTime() && time < to.getTime())
        const part = await partWith(needed, year, ascending, async (part) => within(part).length)
        expect(within(part).slice(0, needed)).toEqual(times.slice(0, needed))
      }),
      { numRuns: 500 },
    )
  })
})

test('consecutive parts cover the period, starting at the end where the list begins', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 100 * dayMs }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(lengths, fc.boolean(), (lengths, ascending) => {
      const parts: (typeof year)[] = []
      let rest: typeof year | undefined = year
      for (const lengthMs of [...lengths, 400 * dayMs]) {
        if (!rest) break
        const cut: ReturnType<typeof cutPart> = cutPart(rest, ascending, lengthMs)
        parts.push(cut.part)
        rest = cut.rest
      }
      const inOrder = ascending ? parts : parts.toReversed()
      expect(rest).toBeUndefined()
      expect([inOrder[0]?.from, inOrder.at(-1)?.to]).toEqual([year.from, year.to])
      for (const [index, part] of inOrder.entries()) {
        expect(part.from < part.to).toBe(true)
        if (index > 0) expect(part.from).toEqual(inOrder[index - 1]?.to)
      }
    }),
  )
})
