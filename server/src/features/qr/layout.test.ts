import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fitLogo, moduleEdges } from './layout.ts'

test.each([
  // Columns: modules, margin, size, first edge, last edge, reason.
  [21, 2, 250, 20, 230, 'a whole number of pixels for each module'],
  [21, 0, 210, 0, 210, 'no margin'],
  [25, 2, 600, 50, 550, 'leftover pixels are less than a module and go to the margin'],
  [37, 2, 600, 29, 571, 'leftover pixels are more, and modules are large enough to differ'],
  [57, 2, 121, 32, 89, 'small modules stay equal, however many pixels are left over'],
])('%i modules, margin %i, %i pixels: from %i to %i', (modules, margin, size, first, last) => {
  const edges = moduleEdges(modules, margin, size)
  expect([edges[0], edges[modules], edges.length]).toEqual([first, last, modules + 1])
})

test('modules have at least a pixel and differ by one at most, and the margin is never narrower than requested', () => {
  const version = fc.integer({ min: 1, max: 40 })
  fc.assert(
    fc.property(version, fc.nat({ max: 20 }), fc.integer({ min: 217, max: 2_000 }), (version, margin, size) => {
      const modules = 17 + 4 * version
      const edges = moduleEdges(modules, margin, size)
      const widths = edges.slice(1).map((edge, at) => edge - (edges[at] ?? 0))
      const [least, most] = [Math.min(...widths), Math.max(...widths)]
      expect(least).toBeGreaterThanOrEqual(1)
      expect(most - least).toBeLessThanOrEqual(least < 8 ? 0 : 1)
      const asked = margin * Math.floor(size / (modules + 2 * margin))
      expect(edges[0]).toBeGreaterThanOrEqual(asked)
      expect(size - (edges[modules] ?? 0)).toBeGreaterThanOrEqual(asked)
    }),
  )
})

test('a size with less than a pixel for each module is refused', () => {
  expect(() => moduleEdges(57, 2, 60)).toThrow(
    '`size` in the query must be at least 61 for this content and margin, not 60.',
  )
  expect(moduleEdges(57, 2, 61)[0]).toBe(2)
})

test.each([
  [
    { width: 100, height: 100 },
    { left: 44, top: 44, width: 42, height: 42 },
  ],
  [
    { width: 10, height: 10 },
    { left: 44, top: 44, width: 42, height: 42 },
  ],
  [
    { width: 420, height: 210 },
    { left: 44, top: 54.5, width: 42, height: 21 },
  ],
  [
    { width: 1, height: 2_000 },
    { left: 64.9895, top: 44, width: 0.021, height: 42 },
  ],
])('a logo of %j is centred and keeps its aspect ratio', (picture, box) => {
  const edges = Array.from({ length: 14 }, (_, at) => at * 10)
  const fitted = fitLogo(edges, { from: 4, to: 9 }, picture)
  for (const [name, value] of Object.entries(box)) expect(fitted[name as keyof typeof box], name).toBeCloseTo(value, 3)
})
