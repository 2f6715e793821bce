import { triggers as all } from '@tributary/contract/webhooks'
import { expect, test } from 'vitest'
import { triggers } from './triggers.ts'

test('every trigger of the contract is in one group', () => {
  expect([...triggers].sort()).toEqual([...all].sort())
})
