import { array, assert, constant, integer, property, tuple } from 'fast-check'
import { expect, test } from 'vitest'
import { boundaries, leastShare, moveBoundary, shared } from './builder-shares.ts'

const shares = (variants: { percentage: number }[]) => variants.map(({ percentage }) => percentage)

test('new shares are equal and together the whole', () => {
  expect(shares(shared(['a', 'b']))).toEqual([50, 50])
  expect(shares(shared(['a', 'b', 'c']))).toEqual([34, 33, 33])
  expect(shares(shared(['a', 'b', 'c', 'd']))).toEqual([25, 25, 25, 25])
})

test('a moved end changes the two shares beside it', () => {
  const three = shared(['a', 'b', 'c'])
  expect(boundaries(three)).toEqual([34, 67])
  expect(shares(moveBoundary(three, 0, 50))).toEqual([50, 17, 33])
  expect(shares(moveBoundary(three, 1, 99))).toEqual([34, 56, 10])
  expect(moveBoundary(three, 2, 50)).toEqual(three)
})

test('whatever is moved where, the shares stay the whole and none is below the least', () => {
  const moves = array(tuple(integer({ min: -1, max: 4 }), integer({ min: -200, max: 300 })), { maxLength: 30 })
  const urls = array(constant('https://example.com'), { minLength: 2, maxLength: 4 })
  void assert(
    property(urls, moves, (urls, moves) => {
      const moved = moves.reduce((variants, [index, to]) => moveBoundary(variants, index, to), shared(urls))
      expect(shares(moved).reduce((sum, share) => sum + share, 0)).toBe(100)
      expect(Math.min(...shares(moved))).toBeGreaterThanOrEqual(leastShare)
    }),
  )
})
