import { expect, test } from 'vitest'
import { drawLines } from './lines.ts'

const points = [0, 5, 10].map((value, index) => ({ name: String(index), value }))
const scales = { x: (index: number) => 100 * index, y: (value: number) => 100 - value }

test('a line goes through its points, and its area ends at zero', () => {
  const { line, area, partial, comparison } = drawLines({ points }, scales)
  expect(line).toMatch(/^M0,100C.*100,95.*200,90$/)
  expect(area).toMatch(/^M0,100C.*200,90L200,100.*Z$/)
  expect([partial, comparison]).toEqual(['', ''])
})

test('a partial last point is reached by a line of its own', () => {
  const { line, partial } = drawLines({ points, partial: true }, scales)
  expect(line).toMatch(/^M0,100.*100,95$/)
  expect(partial).toBe('M100,95L200,90')
})

test('the area follows both lines: the curve of the complete points and the straight one to the partial point', () => {
  const { line, area } = drawLines({ points, partial: true }, scales)
  expect(area.startsWith(`${line}L100,100`)).toBe(true)
  expect(area).toMatch(/ZM100,95L200,90L200,100L100,100Z$/)
  expect(drawLines({ points: points.slice(1), partial: true }, scales).area).toMatch(/ZM0,95L100,90L100,100L0,100Z$/)
})

test('the compared line has its own number of points', () => {
  const longer = [...points, { name: '3', value: 0 }]
  expect(drawLines({ points, comparison: { points: longer, name: '' } }, scales).comparison).toMatch(/300,100$/)
  expect(drawLines({ points, comparison: { points: points.slice(1), name: '' } }, scales).comparison).toMatch(/^M0,95/)
})

test('negative values are below zero', () => {
  const refunds = [{ name: '0', value: -20 }, ...points]
  expect(drawLines({ points: refunds }, scales).line).toMatch(/^M0,120/)
})

test('no points are no line; a partial single point has none either', () => {
  expect(drawLines({ points: [] }, scales)).toEqual({ line: '', area: '', partial: '', comparison: '' })
  expect(drawLines({ points: points.slice(0, 1), partial: true }, scales).partial).toBe('')
})
