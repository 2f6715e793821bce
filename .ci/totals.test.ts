import { expect, test } from 'vitest'
import { type Results, summarize } from './totals.ts'

const file = (status: string, ...assertionResults: Results['testResults'][number]['assertionResults']) => ({
  name: 'a.test.ts',
  status,
  message: status === 'failed' ? 'Cannot find module' : '',
  assertionResults,
})
const passing = { fullName: 'adds', status: 'passed', failureMessages: [] }
const failure = 'expected 1 to be 2\n    at a.test.ts:1:2\n    at run (node_modules/vitest/run.js:1:2)'
const failing = { fullName: 'divides', status: 'failed', failureMessages: [failure] }

test.each([
  ['all pass', [file('passed', passing, passing)], [], 2, []],
  ['one fails', [file('failed', passing, failing)], ['test'], 1, ['divides: expected 1 to be 2\n    at a.test.ts:1:2']],
  ['a file does not load', [file('failed')], ['test'], 0, ['(the file itself): Cannot find module']],
  ['a file breaks after its tests', [file('failed', passing)], ['test'], 1, ['(the file itself): Cannot find module']],
  ['the run breaks off', [file('passed', passing)], ['test'], 1, ['test: failed, see above']],
  [
    'verify fails too',
    [file('failed', failing)],
    ['verify', 'test'],
    0,
    ['divides: expected 1 to be 2\n    at a.test.ts:1:2', 'verify: failed, see above'],
  ],
])('%s', (_, testResults, failedStages, passed, messages) => {
  const summary = summarize({ success: false, testResults }, failedStages)
  expect(summary.passed).toBe(passed)
  expect(summary.failures.map((failure) => `${failure.test}: ${failure.message}`)).toEqual(messages)
})

test('nothing ran', () => {
  expect(summarize(undefined, ['install'])).toMatchObject({ passed: 0, failures: [{ test: 'install' }] })
})
