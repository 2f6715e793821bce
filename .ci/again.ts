import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Results } from './totals.ts'

// More than that is no accident of a busy machine.
const mostFiles = 3

/** The files worth a second try, alone on the machine: when a few failed and something passed. */
export function filesToTryAgain({ testResults }: Results): string[] {
  const failed = testResults.filter(({ status }) => status === 'failed').map(({ name }) => name)
  return failed.length <= mostFiles && failed.length < testResults.length ? failed : []
}

/** What came of a second try takes the place of the first. */
export function withSecondTry(first: Results, second: Results): Results {
  const tried = new Map(second.testResults.map((file) => [file.name, file]))
  const testResults = first.testResults.map((file) => tried.get(file.name) ?? file)
  return { success: testResults.every(({ status }) => status !== 'failed'), testResults }
}

if (import.meta.main) {
  const [firstFile = '', secondFile] = process.argv.slice(2)
  const first = JSON.parse(readFileSync(firstFile, 'utf8')) as Results
  const files = filesToTryAgain(first).map((file) => relative(process.cwd(), file))
  if (secondFile === undefined) {
    console.log(files.join('\n'))
  } else {
    const merged = withSecondTry(first, JSON.parse(readFileSync(secondFile, 'utf8')) as Results)
    writeFileSync(firstFile, JSON.stringify(merged))
    if (merged.success) console.log(`UNSTABLE: failed among all others, passed alone: ${files.join(', ')}`)
    process.exit(merged.success ? 0 : 1)
  }
}
