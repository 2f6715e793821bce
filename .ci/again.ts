import { writeFileSync } from 'node:fs'
import { type FileResult, noFile, readResults } from './results.ts'

// More failures are not caused by a busy machine.
const mostFiles = 8

/** The files to retry alone: if a few failed and others passed. */
export function filesToTryAgain(results: FileResult[]): string[] {
  const failed = results.filter(hasFailed).map(({ file }) => file)
  const isWorthIt = failed.length <= mostFiles && failed.length < results.length && !failed.includes(noFile)
  return isWorthIt ? failed : []
}

/** The result of a retry replaces the first. */
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
    if (hasPassed) console.log(`UNSTABLE: failed among all others, passed alone: ${files.join(', ')}`)
    process.exit(hasPassed ? 0 : 1)
  }
}
