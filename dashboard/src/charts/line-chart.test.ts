import { expect, test } from 'vitest'
import { drawLine, nameIndexes, nearestIndex } from './line-chart.tsx'

const points = [0, 5, 37].map((value, index) => ({ name: String(index), value }))

test('a line begins at zero and ends below a round number', () => {
  const { y, ticks, path } = drawLine(points, 600, 200)
  expect(ticks).toEqual([0, 10, 20, 30, 40])
  expect(y(0)).toBe(178)
  expect(y(40)).toBe(8)
  expect(path).toMatch(/^M48,178/)
})

test('a line of zeros has a scale, and no ticks between whole numbers', () => {
  const { ticks } = drawLine(
    points.map(({ name }) => ({ name, value: 0 })),
    600,
    200,
  )
  expect(ticks).toEqual([0, 1])
})

test('the pointer reads the nearest point, also beside the chart', () => {
  expect(nearestIndex(0, 600, 30)).toBe(0)
  expect(nearestIndex(320, 600, 3)).toBe(1)
  expect(nearestIndex(900, 600, 30)).toBe(29)
})

test('names below the axis fit its width, with the first and the last', () => {
  expect(nameIndexes(30, 300)).toEqual([0, 29])
  expect(nameIndexes(30, 600)).toEqual([0, 10, 19, 29])
  expect(nameIndexes(1, 600)).toEqual([0])
  expect(nameIndexes(0, 600)).toEqual([])
})
