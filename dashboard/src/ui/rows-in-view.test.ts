import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsInView } from './rows-in-view.ts'

test('the rows on the screen are drawn, and six on both sides', () => {
  const rows = rowsInView({ scrolled: 1_000, viewHeight: 300, rowHeight: 50, count: 1_000 })
  expect([rows[0], rows.at(-1)]).toEqual([14, 31])
  expect(rowsInView({ scrolled: -200, viewHeight: 300, rowHeight: 50, count: 3 })).toEqual([0, 1, 2])
  expect(rowsInView({ scrolled: 0, viewHeight: 300, rowHeight: 50, count: 0 })).toEqual([])
  expect(rowsInView({ scrolled: -5_000, viewHeight: 300, rowHeight: 50, count: 9 })).toEqual([0, 1, 2, 3, 4, 5])
})

test('every row that any pixel of the screen shows is drawn, and few others', () => {
  const view = fc.record({
    scrolled: fc.integer({ min: -500, max: 5_000_000 }),
    viewHeight: fc.integer({ min: 0, max: 3_000 }),
    rowHeight: fc.integer({ min: 20, max: 200 }),
    count: fc.integer({ min: 0, max: 100_000 }),
  })
  fc.assert(
    fc.property(view, fc.double({ min: 0, max: 1, noNaN: true }), (given, share) => {
      const rows = rowsInView(given)
      const { scrolled, viewHeight, rowHeight, count } = given
      const shown = Math.floor((scrolled + share * viewHeight) / rowHeight)
      if (shown >= 0 && shown < count) expect(rows).toContain(shown)
      expect(rows.length).toBeLessThanOrEqual(viewHeight / rowHeight + 14)
      expect(rows.every((row) => row >= 0 && row < count)).toBe(true)
    }),
  )
})
