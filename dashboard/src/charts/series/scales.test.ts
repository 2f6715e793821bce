import { expect, test } from 'vitest'
import { anchorName, arrangeBands, arrangePoints, nameIndexes, scaleValues } from './scales.ts'

const frame = { left: 48, width: 600, height: 200 }

test('a scale begins at zero and ends with a round number', () => {
  const { y, ticks } = scaleValues([0, 5, 37], 200)
  expect(ticks).toEqual([0, 10, 20, 30, 40])
  expect([y(0), y(40)]).toEqual([178, 8])
})

test('zeros have a scale, and no ticks between whole numbers', () => {
  expect(scaleValues([0, 0], 200).ticks).toEqual([0, 1])
  expect(scaleValues([], 200).ticks).toEqual([0, 1])
})

test('a scale of negative values has zero within it, or at its top', () => {
  const { y, ticks } = scaleValues([-1_500, 3_000], 200)
  expect(ticks).toEqual([-2_000, 0, 2_000, 4_000])
  expect([y(-2_000), y(4_000)]).toEqual([178, 8])
  expect(scaleValues([-100, -20], 200).y(0)).toBe(8)
})

test('points span the axis, and the pointer reads the nearest one, also beside it', () => {
  const { x, indexAt } = arrangePoints(3, frame)
  expect([0, 1, 2].map(x)).toEqual([48, 320, 592])
  expect([0, 100, 320, 470, 900].map(indexAt)).toEqual([0, 0, 1, 2, 2])
})

test('bars have equal bands, and the pointer reads that below it', () => {
  const { x, band, indexAt } = arrangeBands(4, frame)
  expect(band).toBe(136)
  expect([0, 3].map(x)).toEqual([116, 524])
  expect([0, 183, 185, 900].map(indexAt)).toEqual([0, 0, 1, 3])
})

test('a single point is in the middle', () => {
  for (const arrange of [arrangePoints, arrangeBands]) {
    const { x, indexAt } = arrange(1, frame)
    expect(x(0)).toBe(320)
    expect([0, 600].map(indexAt)).toEqual([0, 0])
  }
})

test('names below the axis fit its length, with the first and the last', () => {
  expect(nameIndexes(30, 250)).toEqual([0, 29])
  expect(nameIndexes(30, 500)).toEqual([0, 10, 19, 29])
  expect(nameIndexes(2, 900)).toEqual([0, 1])
  expect(nameIndexes(10, 90)).toEqual([0])
  expect(nameIndexes(1, 0)).toEqual([0])
  expect(nameIndexes(0, 0)).toEqual([])
})

test('names at the ends of the axis stay within it', () => {
  expect([0, 1, 2].map((index) => anchorName(index, 3))).toEqual(['start', 'middle', 'end'])
  expect(anchorName(0, 1)).toBe('middle')
})
