import { expect, test } from 'vitest'
import { toggleSelected } from './selection.ts'

const order = ['a', 'b', 'c', 'd']

test('a click selects one link and a second one deselects it', () => {
  expect([...toggleSelected(new Set(), order, 'b')]).toEqual(['b'])
  expect([...toggleSelected(new Set(['b']), order, 'b')]).toEqual([])
})

test('with Shift all links between two clicks are selected, in both directions', () => {
  expect([...toggleSelected(new Set(['d']), order, 'b', 'd')].sort()).toEqual(['b', 'c', 'd'])
  expect([...toggleSelected(new Set(['a']), order, 'c', 'a')]).toEqual(['a', 'b', 'c'])
})

test('a range from a link that is not in the list selects only the clicked one', () => {
  expect([...toggleSelected(new Set(), order, 'b', 'z')]).toEqual(['b'])
})
