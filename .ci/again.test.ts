import { expect, test } from 'vitest'
import { filesToTryAgain, withSecondTry } from './again.ts'
import type { Results } from './totals.ts'

function results(files: Record<string, 'passed' | 'failed'>): Results {
  const testResults = Object.entries(files).map(([name, status]) => ({
    name,
    status,
    message: '',
    assertionResults: [],
  }))
  return { success: testResults.every(({ status }) => status === 'passed'), testResults }
}

test.each([
  ['nothing failed', { a: 'passed' }, []],
  ['one of two', { a: 'failed', b: 'passed' }, ['a']],
  ['all', { a: 'failed' }, []],
  ['too many', { a: 'failed', b: 'failed', c: 'failed', d: 'failed', e: 'passed' }, []],
] as const)('worth a second try when it is %s', (_, files, expected) => {
  expect(filesToTryAgain(results(files))).toEqual(expected)
})

test('a second try counts instead of the first, for better or worse', () => {
  const first = results({ a: 'failed', b: 'passed' })
  expect(withSecondTry(first, results({ a: 'passed' }))).toEqual(results({ a: 'passed', b: 'passed' }))
  expect(withSecondTry(first, results({ a: 'failed' }))).toEqual(first)
})
