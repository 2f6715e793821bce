import { expect, test } from 'vitest'
import { countPositions, moveIndex, readPosition, type SeriesProps } from './series.ts'

const points = ['Mon', 'Tue', 'Wed'].map((name, value) => ({ name, value }))
const series = (given: Partial<SeriesProps>): SeriesProps => ({
  ...{ points, description: '', columns: ['', ''], format: String, formatTick: String },
  ...given,
})

test('a longer period of comparison makes the axis longer, a shorter one does not', () => {
  expect(countPositions({ points })).toBe(3)
  expect(countPositions({ points, comparison: { points: [...points, ...points], name: '' } })).toBe(6)
  expect(countPositions({ points, comparison: { points: points.slice(1), name: '' } })).toBe(3)
})

test('a position has its values and all of its notes; only the last of the points is partial', () => {
  const comparison = { points: [...points, { name: 'Thu', value: 9 }], name: 'Before' }
  const notes = ['one', 'two'].map((text) => ({ index: 2, text }))
  const given = series({ comparison, notes, partial: true })
  expect(readPosition(given, 0)).toEqual({ point: points[0], compared: points[0], texts: [], isPartial: false })
  expect(readPosition(given, 2)).toMatchObject({ point: points[2], texts: ['one', 'two'], isPartial: true })
  expect(readPosition(given, 3)).toEqual({
    point: undefined,
    compared: comparison.points[3],
    texts: [],
    isPartial: false,
  })
  expect(readPosition(series({}), 2).isPartial).toBe(false)
})

test.each([
  ['ArrowLeft', 5, 4],
  ['ArrowLeft', 0, 0],
  ['ArrowRight', 5, 6],
  ['ArrowRight', 29, 29],
  ['ArrowUp', 5, 6],
  ['ArrowDown', 5, 4],
  ['Home', 5, 0],
  ['End', 5, 29],
  ['PageUp', 5, 8],
  ['PageDown', 1, 0],
  ['a', 5, undefined],
])('%s leads from %d to %s of 30', (key, from, to) => {
  expect(moveIndex(key, from, 30)).toBe(to)
})

test('keys stay within a single position', () => {
  for (const key of ['ArrowLeft', 'ArrowRight', 'PageUp', 'End']) expect(moveIndex(key, 0, 1)).toBe(0)
})
