import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

/** What vitest's JSON reporter writes, as far as it is needed here. */
export interface Results {
  success: boolean
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: { fullName: string; status: string; failureMessages?: string[] | null }[]
  }[]
}

export interface Failure {
  file: string
  test: string
  message: string
}

/** A file that could not be loaded, a run that broke off and a stage that failed count as one failure each. */
export function summarize(
  results: Results | undefined,
  failedStages: string[],
): { passed: number; failures: Failure[] } {
  const files = results?.testResults ?? []
  const failures = files.flatMap(({ name: file, status, message, assertionResults }): Failure[] => {
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (failed.length === 0) return status === 'failed' ? [{ file, test: '(the file itself)', message }] : []
    return failed.map((test) => ({ file, test: test.fullName, message: withoutInsides(test.failureMessages ?? []) }))
  })
  const explained = failures.length > 0 ? failedStages.filter((stage) => stage !== 'test') : failedStages
  const stages = explained.map((stage) => ({ file: '.ci/run', test: stage, message: 'failed, see above' }))
  return {
    passed: files.flatMap(({ assertionResults }) => assertionResults).filter((test) => test.status === 'passed').length,
    failures: [...failures, ...stages],
  }
}

function withoutInsides(messages: string[]): string {
  return messages.join('\n').replace(/\n\s+at (?=.*(node_modules|new Promise|node:)).*/g, '')
}

if (import.meta.main) {
  const [file = '', ...failedStages] = process.argv.slice(2)
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const { passed, failures } = summarize(text ? JSON.parse(text) : undefined, failedStages)
  for (const failure of failures) {
    console.log(`\nFAILED ${relative(process.cwd(), failure.file)} > ${failure.test}`)
    console.log(failure.message.replace(/^/gm, '  '))
  }
  console.log(`\n${passed} passed, ${failures.length} failed`)
}
