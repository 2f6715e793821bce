import { writeFileSync } from 'node:fs'
import { type FileResult, noFile, readResults } from './results.ts'

// More failed files than this are not caused by a busy machine.
const mostFiles = 8

/** Returns the test files to retry alone, if only a few failed. */
export function filesToTryAgain(results: FileResult[]): string[] {
  const failed = results.filter(hasFailed).map(({ file }) => file)
  const isWorthIt = failed.length <= mostFiles && failed.length < results.length && !failed.includes(noFile)
  return isWorthIt ? failed : []
}

/** Replaces first results with those of the retry. */
export function withSecondTry(first: FileResult[], second: FileResult[]): FileResult[] {
  const results = new Map([...first, ...second].map((result) => [result.file, result]))
  return [...results.values()]
}

function hasFailed({ failures }: FileResult): boolean {
  return failures.length > 0
}

if (import.meta.main) {
  const [firstFile = '', secondFile] = process.argv.slice(2)
  const first = readResults(firstFile)
  const files = filesToTryAgain(first)
  if (secondFile === undefined) {
    console.log(files.join('\n'))
  } else {
    const merged = withSecondTry(first, readResults(secondFile))
    writeFileSync(firstFile, JSON.stringify(merged))
    const hasPassed = !merged.some(hasFailed)
    if (hasPassed) console.log(`UNSTABLE: failed in the full run, passed when run alone: ${files.join(', ')}`)
    process.exit(hasPassed ? 0 : 1)
  }
}
