import { expect, test } from 'vitest'
import { countListed, followPage } from './cursor-chain.ts'

const second = { after: 'row-50', cursor: 'a' }
const third = { after: 'row-100', cursor: 'b' }

test('a loaded page makes the next one known, and the last one ends the list', () => {
  const two = followPage([undefined], 0, second)
  expect(two).toEqual([undefined, second])
  const three = followPage(two, 1, third)
  expect(three).toEqual([undefined, second, third])
  expect(followPage(three, 2, undefined)).toBe(three)
  expect(followPage(three, 1, undefined)).toEqual([undefined, second])
})

test('a new cursor for the same row changes nothing', () => {
  const chain = [undefined, second, third]
  expect(followPage(chain, 0, { ...second, cursor: 'other' })).toBe(chain)
})

test('new rows at the top make the pages behind them unknown', () => {
  const moved = { after: 'row-47', cursor: 'c' }
  expect(followPage([undefined, second, third], 0, moved)).toEqual([undefined, moved])
})

test('rows of a page that is not loaded are announced', () => {
  expect(countListed(1, 50, undefined, 3)).toBe(3)
  expect(countListed(3, 50, undefined, 3)).toBe(103)
  expect(countListed(3, 50, 20, 3)).toBe(120)
  expect(countListed(1, 50, 0, 3)).toBe(0)
})
