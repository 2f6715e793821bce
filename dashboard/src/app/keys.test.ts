import { expect, test } from 'vitest'
import { formatKeys } from './keys.ts'

test.each([
  ['c', ['C'], ['C']],
  ['g l', ['G', 'L'], ['G', 'L']],
  ['$mod+k', ['⌘K'], ['Ctrl K']],
  ['$mod+Enter', ['⌘↵'], ['Ctrl ↵']],
  ['[Shift]+?', ['?'], ['?']],
  ['Escape', ['Esc'], ['Esc']],
  ['ArrowLeft', ['←'], ['←']],
])('%s', (keys, onMac, elsewhere) => {
  expect([formatKeys(keys, true), formatKeys(keys, false)]).toEqual([onMac, elsewhere])
})
