import { expect, test } from 'vitest'
import { drawSparkline } from './sparkline.tsx'

test('a sparkline spans its width, and its highest value touches the top', () => {
  const path = drawSparkline([0, 5, 10], 84, 22)
  expect(path).toMatch(/^M2,20/)
  expect(path).toMatch(/82,2$/)
})

test('a sparkline without events is flat', () => {
  expect(drawSparkline([0, 0], 84, 22).match(/,20/g)?.length).toBeGreaterThan(1)
  expect(drawSparkline([], 84, 22)).toBe('')
})
