import { describe, expect, test } from 'vitest'
import { encodeText, logoArea, withoutMiddle } from './code.ts'

describe('a code', () => {
  test.each([
    ['L', 2_953],
    ['M', 2_331],
    ['Q', 1_663],
    ['H', 1_273],
  ] as const)('of level %s fits %i bytes and no more', (level, most) => {
    expect(encodeText('x'.repeat(most), level, false)).toHaveLength(177)
    expect(() => encodeText('x'.repeat(most + 1), level, false)).toThrow(
      `\`url\` in the query is too long for a QR code of level ${level}: it has ${most + 1} bytes, and ${most} fit.`,
    )
  })

  test('is limited by bytes, not characters, and the error says that a logo takes space', () => {
    expect(() => encodeText('漢'.repeat(425), 'H', true)).toThrow(
      'too long for a QR code of level H, which a logo needs: it has 1275 bytes, and 1273 fit. Shorten the URL, or use a lower level and no logo.',
    )
  })

  test('has three finder patterns in its corners and no margin', () => {
    const code = encodeText('https://example.com', 'L', false)
    const last = code.length - 1
    const corner = (x: number, y: number) => code[y]?.[x]
    expect([corner(0, 0), corner(last, 0), corner(0, last)]).toEqual([true, true, true])
    expect(code[0]?.slice(0, 8)).toEqual([true, true, true, true, true, true, true, false])
  })
})

test.each(Array.from({ length: 40 }, (_, at) => 21 + 4 * at))('of %i modules has a logo of at most 22 %%', (width) => {
  const code = Array.from({ length: width }, () => Array.from({ length: width }, () => true))
  const { from, to } = logoArea(code)
  expect(from).toBe(width - to)
  expect((to - from) / width).toBeGreaterThan(0.14)
  expect((to - from) / width).toBeLessThanOrEqual(0.22)
  const cleared = withoutMiddle(code)
    .flat()
    .filter((dark) => !dark)
  expect(cleared).toHaveLength((to - from) ** 2)
})
