import { expect, test } from 'vitest'
import { filesToTryAgain, withSecondTry } from './again.ts'
import { type FileResult, noFile } from './results.ts'

function results(files: Record<string, 'passed' | 'failed'>): FileResult[] {
  return Object.entries(files).map(([file, status]) => ({
    file,
    passed: 1,
    failures: status === 'failed' ? [{ test: 'divides', message: 'expected 1 to be 2' }] : [],
  }))
}

test.each([
  ['nothing failed', { a: 'passed' }, []],
  ['one of two', { a: 'failed', b: 'passed' }, ['a']],
  ['all', { a: 'failed' }, []],
  [
    'too many',
    { ...Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, 'failed' as const])), e: 'passed' },
    [],
  ],
  ['an error of no file', { [noFile]: 'failed', b: 'failed', c: 'passed' }, []],
] as const)('failed files are retried when it is %s', (_, files, expected) => {
  expect(filesToTryAgain(results(files))).toEqual(expected)
})

test('the result of a retry replaces the first result', () => {
  const first = results({ a: 'failed', b: 'passed' })
  expect(withSecondTry(first, results({ a: 'passed' }))).toEqual(results({ a: 'passed', b: 'passed' }))
  expect(withSecondTry(first, results({ a: 'failed' }))).toEqual(first)
  expect(withSecondTry(first, results({ a: 'passed', [noFile]: 'failed' }))).toHaveLength(3)
})
