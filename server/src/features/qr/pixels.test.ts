import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Pixels, resize } from './pixels.ts'

const side = fc.integer({ min: 1, max: 40 })

test('an image of one colour stays that colour at any size', () => {
  const channel = fc.nat({ max: 255 })
  const color = fc.tuple(channel, channel, channel, fc.integer({ min: 1, max: 255 }))
  fc.assert(
    fc.property(side, side, side, side, color, (width, height, toWidth, toHeight, color) => {
      const result = resize(filled(width, height, color), toWidth, toHeight)
      expect(result.data).toHaveLength(toWidth * toHeight * 4)
      for (const [at, value] of result.data.entries()) {
        expect(Math.abs(value - (color[at % 4] ?? 0))).toBeLessThanOrEqual(1)
      }
    }),
  )
})

test('resizing to the same size changes nothing', () => {
  const picture = {
    width: 3,
    height: 2,
    data: Uint8Array.from({ length: 24 }, (_, at) => (at % 4 === 3 ? 255 : at * 9)),
  }
  expect(resize(picture, 3, 2).data).toEqual(picture.data)
})

test('black and white halves stay on their sides, with grey between them', () => {
  const columns = filled(100, 10, [255, 255, 255, 255])
  for (let at = 0; at < 1_000; at++) if (at % 100 < 50) columns.data.set([0, 0, 0], at * 4)
  const { data } = resize(columns, 5, 1)
  const reds = Array.from({ length: 5 }, (_, at) => data[at * 4] ?? 0)
  expect(reds[0]).toBe(0)
  expect(reds[2]).toBeGreaterThan(100)
  expect(reds[2]).toBeLessThan(155)
  expect(reds[4]).toBe(255)
})

test('transparent pixels do not colour opaque ones', () => {
  const picture = filled(2, 1, [255, 0, 0, 255])
  picture.data.set([0, 255, 0, 0], 4)
  expect([...resize(picture, 1, 1).data]).toEqual([255, 0, 0, 128])
})

function filled(width: number, height: number, color: number[]): Pixels {
  return { width, height, data: Uint8Array.from({ length: width * height * 4 }, (_, at) => color[at % 4] ?? 0) }
}
