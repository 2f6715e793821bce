import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileResult, readResults } from './results.ts'

const mostLines = 30
const mostFiles = 12

export interface Failure {
  file: string
  test: string
  message: string
}

type Summary = { passed: number; failures: Failure[] }

/** Summarizes test results. A file that does not load, an aborted run and a failed stage count as one failure each. */
export function summarize(results: FileResult[], failedStages: string[], readLog = (_stage: string) => ''): Summary {
  const failures = results.flatMap((result) => result.failures.map((failure) => ({ file: result.file, ...failure })))
  const explained = failures.length > 0 ? failedStages.filter((stage) => stage !== 'test') : failedStages
  const stages = explained.map((stage) => ({
    file: '.ci/run',
    test: stage,
    message: lastLines(readLog(stage)) || 'failed, see above',
  }))
  return { passed: results.reduce((sum, { passed }) => sum + passed, 0), failures: [...failures, ...stages] }
}

function lastLines(log: string): string {
  return log.trimEnd().split('\n').slice(-mostLines).join('\n')
}

export function slowest(results: FileResult[]): string {
  const files = results.toSorted((one, other) => (other.seconds ?? 0) - (one.seconds ?? 0)).slice(0, mostFiles)
  return files.map(({ file, seconds = 0 }) => `${file} ${seconds} s`).join(', ')
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

if (import.meta.main) {
  const [path = '', ...failedStages] = process.argv.slice(2)
  const readLog = (stage: string) => readIfThere(join(dirname(path), `${stage}.log`))
  const results = existsSync(path) ? readResults(path) : []
  const { passed, failures } = summarize(results, failedStages, readLog)
  console.log(`slowest: ${slowest(results)}`)
  for (const { file, test, message } of failures)
    console.log(`\nFAILED ${file} > ${test}\n${message.replace(/^/gm, '  ')}`)
  console.log(`\n${passed} passed, ${failures.length} failed`)
}
