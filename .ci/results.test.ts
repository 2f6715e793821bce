import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type FileResult, readResults } from './results.ts'

const vitest = join(import.meta.dirname, '../node_modules/vitest/vitest.mjs')
const reporter = join(import.meta.dirname, 'results.ts')

test.each([
  ['passes', "test('adds', () => {})", 1, []],
  [
    'fails',
    "describe('it', () => { test('adds', () => expect(1).toBe(2)) })",
    0,
    [['it > adds', 'expected 1 to be 2']],
  ],
  ['does not load', "import './none.ts'", 0, [['(the file itself)', './none.ts']]],
  ['has no test', '', 0, [['(the file itself)', 'No test suite found']]],
  [
    'breaks in a hook',
    "describe('it', () => { beforeAll(() => { throw Error('no engine') }); test('adds', () => {}) })",
    0,
    [['it', 'no engine']],
  ],
  [
    'passes and leaves an error behind',
    "test('adds', () => { void Promise.reject(Error('nobody waits')) })",
    1,
    [['(unhandled error)', 'nobody waits']],
  ],
  [
    'dies',
    "test('adds', () => process.kill(process.pid, 'SIGKILL'))",
    0,
    [
      ['(the file itself)', 'did not finish'],
      ['(unhandled error)', 'exited unexpectedly'],
    ],
  ],
])('a file that %s', async (_, text, passed, failures) => {
  const results = await runReporter(text)
  expect(results.reduce((sum, result) => sum + result.passed, 0)).toBe(passed)
  const found = results.flatMap((result) => result.failures)
  expect(found).toEqual(
    failures.map(([name, message]) => ({ test: name, message: expect.stringContaining(message as string) })),
  )
})

async function runReporter(text: string): Promise<FileResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-results-'))
  try {
    await writeFile(join(folder, 'a.test.ts'), text)
    const path = join(folder, 'results.json')
    const options = ['run', '--globals', '--pool=forks', `--root=${folder}`, `--reporter=${reporter}`]
    const child = spawn(process.execPath, [vitest, ...options], {
      cwd: folder,
      env: { PATH: process.env.PATH, TEST_RESULTS: path },
      stdio: 'ignore',
    })
    await once(child, 'close')
    return readResults(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}
