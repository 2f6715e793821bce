import { expect, test } from 'vitest'
import { measureSteps } from './funnel-steps.ts'

const measure = (...values: number[]) =>
  measureSteps(values.map((value) => ({ id: '', name: '', value, text: '', className: '' }))).map(
    ({ height, ofPrevious, ofFirst }) => [height, ofPrevious, ofFirst],
  )

test('steps have their height and their rates', () => {
  expect(measure(200, 100, 50)).toEqual([
    [100, undefined, undefined],
    [50, 0.5, 0.5],
    [25, 0.5, 0.25],
  ])
})

test('a small value stays visible, and zero has no bar', () => {
  expect(measure(1_000_000, 1, 0).map(([height]) => height)).toEqual([100, 1, 0])
})

test('nothing has no rates', () => {
  expect(measure(0, 0, 0)).toEqual(Array(3).fill([0, undefined, undefined]))
  expect(measure(100, 0, 0)[2]).toEqual([0, undefined, 0])
})

test('a step above the first fills the height', () => {
  expect(measure(50, 100)).toEqual([
    [50, undefined, undefined],
    [100, 2, 2],
  ])
})
