import { expect, test } from 'vitest'
import { isInScope } from './scope.ts'

const link = { folderId: 'fold_1', webhookIds: ['wh_1', 'wh_2'] }
const loose = { folderId: null, webhookIds: [] }

test.each([
  ['workspace', [], link, true],
  ['workspace', [], loose, true],
  ['folders', ['fold_1'], link, true],
  ['folders', ['fold_2', 'fold_1'], link, true],
  ['folders', ['fold_2'], link, false],
  ['folders', ['fold_1'], loose, false],
  ['folders', [], link, false],
  ['links', [], link, true],
  ['links', [], loose, false],
  ['links', ['fold_1'], { ...link, webhookIds: ['wh_2'] }, false],
] as const)('a webhook with the scope %s %j gets events of the link %j: %s', (scope, folder_ids, link, expected) => {
  const webhook = { id: 'wh_1', scope, folder_ids: [...folder_ids] }
  expect(isInScope(webhook, { ...link, webhookIds: [...link.webhookIds] })).toBe(expected)
})
