import { describe, expect, test } from 'vitest'
import { contrast, parseColor, readableColors } from './color.ts'

test.each([
  ['#1a2b3c', '#1a2b3c'],
  ['1A2B3C', '#1a2b3c'],
  ['#abc', '#aabbcc'],
  ['F00', '#ff0000'],
])('%s is %s', (text, hex) => {
  const color = parseColor(text)
  expect(color.hex).toBe(hex)
  expect(Buffer.from([color.red, color.green, color.blue]).toString('hex')).toBe(hex.slice(1))
})

test.each([
  ['#000', '#fff', 1],
  ['#fff', '#000', 1],
  ['#777', '#777', 0],
  ['#fff', '#999999', 0.4],
  ['#0000ff', '#000000', 0.0722],
  ['#ff00ff', '#005a00', 0.0324],
])('%s and %s differ by %d', (one, other, difference) => {
  expect(contrast(parseColor(one), parseColor(other))).toBeCloseTo(difference, 3)
})

describe('colours that scanners can distinguish', () => {
  test.each([
    ['#000', '#fff'],
    ['#fff', '#000'],
    ['#ff8800', '#fff'],
    ['#0a7', '#ffd'],
    ['#06c', '#000'],
    ['#fff', '#3b82f6'],
    ['#ffa500', '#fff'],
  ])('%s on %s', (foreground, background) => {
    expect(readableColors(foreground, background)).toEqual([parseColor(foreground), parseColor(background)])
  })

  test.each([
    ['#fff', '#fff', 0],
    ['#000', '#000', 0],
    ['#ff0', '#fff', 7],
    ['#ddd', '#fff', 13],
    ['#00f', '#000099', 2],
    ['#222', '#000', 13],
    ['#f0f', '#005a00', 3],
  ])('%s on %s is refused', (foreground, background, percent) => {
    const message = '`fgColor` and `bgColor` in the query are too alike for scanners: the brightness differs by'
    expect(() => readableColors(foreground, background)).toThrow(`${message} ${percent} %, and the minimum is 20 %.`)
  })
})
