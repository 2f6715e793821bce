import { describe, expect, test } from 'vitest'
import { isReadable, judgeWrite } from './access.ts'

const access = { hidden: ['fold_h'], readOnly: ['fold_r'] }

describe('access to a folder', () => {
  test.each([
    [undefined, 'fold_h', true, 'allowed'],
    [access, 'fold_h', false, 'hidden'],
    [access, 'fold_r', true, 'readOnly'],
    [access, 'fold_w', true, 'allowed'],
    [access, null, true, 'allowed'],
    [access, undefined, true, 'allowed'],
    [access, '', true, 'allowed'],
    // A hidden folder stays hidden even if it is also listed as read-only.
    [{ hidden: ['fold_1'], readOnly: ['fold_1'] }, 'fold_1', false, 'hidden'],
  ] as const)('of %j to %j: readable %s, writing %s', (given, folderId, canRead, judgement) => {
    const mutable = given && { hidden: [...given.hidden], readOnly: [...given.readOnly] }
    expect(isReadable(mutable, folderId)).toBe(canRead)
    expect(judgeWrite(mutable, folderId)).toBe(judgement)
  })
})
