import { expect, test } from 'vitest'
import { slowest, summarize } from './totals.ts'

const passing = { file: 'a.test.ts', passed: 2, failures: [] }
const failing = { file: 'b.test.ts', passed: 1, failures: [{ test: 'divides', message: 'expected 1 to be 2' }] }

test.each([
  ['all pass', [passing], [], 2, []],
  ['one fails', [passing, failing], ['test'], 3, ['b.test.ts > divides: expected 1 to be 2']],
  ['the run breaks off', [passing], ['test'], 2, ['.ci/run > test: failed, see above']],
  ['nothing ran', [], ['install'], 0, ['.ci/run > install: failed, see above']],
  [
    'verify fails too',
    [failing],
    ['verify', 'test'],
    1,
    ['b.test.ts > divides: expected 1 to be 2', '.ci/run > verify: failed, see above'],
  ],
])('%s', (_, results, failedStages, passed, messages) => {
  const summary = summarize(results, failedStages)
  expect(summary.passed).toBe(passed)
  expect(summary.failures.map(({ file, test, message }) => `${file} > ${test}: ${message}`)).toEqual(messages)
})

test('a failed stage is reported with its last lines', () => {
  const { failures } = summarize([passing], ['verify'], () => `${'ok\n'.repeat(50)}9 of 10 checks passed\n`)
  expect(failures[0]?.message.split('\n')).toEqual([...Array(29).fill('ok'), '9 of 10 checks passed'])
})

test('the summary lists the slowest files first', () => {
  const results = [1, 30, 2].map((seconds) => ({ file: `${seconds}.test.ts`, passed: 1, seconds, failures: [] }))
  expect(slowest(results)).toBe('30.test.ts 30 s, 2.test.ts 2 s, 1.test.ts 1 s')
})
