import { expect, test } from 'vitest'
import { drawBars } from './bars.ts'

const draw = (values: number[], given: { band?: number; compared?: number[]; partial?: boolean } = {}) => {
  const name = (value: number, index: number) => ({ name: String(index), value })
  const { band = 10, compared, partial } = given
  const comparison = compared && { points: compared.map(name), name: '' }
  const scales = { x: (index: number) => (index + 0.5) * band, y: (value: number) => 100 - value, band }
  return drawBars({ points: values.map(name), comparison, partial }, scales)
}

test('a bar stands on zero in the middle of its band, with a rounded top', () => {
  expect(draw([50]).bars).toBe('M1.5,100v-48q0,-2,2,-2h3q2,0,2,2v48z')
})

test('a negative bar hangs below zero, and a zero has no bar', () => {
  expect(draw([-50]).bars).toBe('M1.5,100v48q0,2,2,2h3q2,0,2,-2v-48z')
  expect(draw([0, 0]).bars).toBe('')
})

test('the smallest bar is not higher than its value, and the narrowest is a pixel wide', () => {
  expect(draw([1]).bars).toBe('M1.5,100v0q0,-1,1,-1h5q1,0,1,1v0z')
  expect(draw([50], { band: 0.5 }).bars).toMatch(/^M-0\.2,100/)
})

test('a single bar does not fill the chart', () => {
  expect(draw([50], { band: 500 }).bars).toMatch(/h36q/)
})

test('the last bar is drawn apart when it is partial', () => {
  const { bars, partial } = draw([50, 60], { partial: true })
  expect(bars.match(/M/g)).toHaveLength(1)
  expect(partial).toMatch(/^M11\.5,100v-58/)
})

test('compared bars are wider and may be more', () => {
  const { bars, comparison } = draw([50], { compared: [20, 30] })
  expect(comparison).toMatch(/^M0\.8,100.*M10\.8,100/)
  expect(bars).toMatch(/^M2\.5,100/)
})
