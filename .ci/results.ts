import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Test results of one file, or of no file: unhandled errors may not belong to a file. */
export interface FileResult {
  file: string
  passed: number
  seconds?: number
  failures: { test: string; message: string }[]
}

/** File name for errors without a known file, such as when a worker dies. */
export const noFile = '(no file)'

/** A vitest reporter that writes the results to the file TEST_RESULTS, because vitest's own JSON omits unhandled errors. */
// biome-ignore lint/style/noDefaultExport: vitest takes a reporter from there
export default function reporter(): Reporter {
  return {
    onTestRunEnd: (modules, unhandled) =>
      writeFileSync(process.env.TEST_RESULTS ?? '', JSON.stringify(buildResults(modules, unhandled))),
  }
}

export function readResults(path: string): FileResult[] {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function buildResults(modules: readonly TestModule[], unhandled: readonly SerializedError[]): FileResult[] {
  const results = new Map(modules.map((module) => [filePath(module.moduleId), buildResult(module)]))
  for (const error of unhandled) {
    const file = error.VITEST_TEST_PATH ? filePath(error.VITEST_TEST_PATH) : noFile
    const result = results.get(file) ?? { file, passed: 0, failures: [] }
    result.failures.push({ test: '(unhandled error)', message: errorText(error) })
    results.set(file, result)
  }
  return [...results.values()]
}

function buildResult(module: TestModule): FileResult {
  const tests = [...module.children.allTests()].map((test) => ({ name: test.fullName, ...test.result() }))
  const parts = [...module.children.allSuites()].map((suite) => ({ name: suite.fullName, errors: suite.errors() }))
  const failures = [
    { name: '(the file itself)', errors: module.errors() },
    ...parts,
    ...tests.filter(({ state }) => state === 'failed'),
  ].flatMap(({ name, errors = [] }) =>
    errors.length > 0 ? [{ test: name, message: errors.map(errorText).join('\n') }] : [],
  )
  const isOver = ['passed', 'skipped'].includes(module.state())
  if (!isOver && failures.length === 0) failures.push({ test: '(the file itself)', message: 'did not finish' })
  const passed = tests.filter(({ state }) => state === 'passed').length
  const seconds = Math.round(module.diagnostic().duration / 1000)
  return { file: filePath(module.moduleId), passed, seconds, failures }
}

function filePath(path: string): string {
  return relative(process.cwd(), path)
}

/** Formats an error without the stack frames of vitest and Node. */
function errorText({ stack, message, cause }: Pick<SerializedError, 'stack' | 'message' | 'cause'>): string {
  const text = (stack || message).replace(/\n\s+at (?=.*(node_modules|new Promise|node:)).*/g, '')
  return cause ? `${text}\nCause: ${errorText(cause)}` : text
}
