import { execFileSync } from 'node:child_process'
import { relative } from 'node:path'

export type TestFile = { file: string; projectName?: string }
export type Shard = { index: number; count: number }

/** Parses `2/3` as the second of three shards. */
export function parseShard(text: string): Shard {
  const [, index = 0, count = 0] = (text.match(/^(\d{1,3})\/(\d{1,3})$/) ?? []).map(Number)
  if (index >= 1 && index <= count) return { index, count }
  throw new Error(`SHARD is ${JSON.stringify(text)}: it must be the shard and the number of shards, such as 1/3.`)
}

/** Distributes test files round-robin, project by project, so that every shard gets an equal part of the slow projects. */
export function selectShard(files: TestFile[], { index, count }: Shard): string[] {
  const byProject = files.toSorted((one, other) => sortKey(one).localeCompare(sortKey(other)))
  const unique = [...new Set(byProject.map(({ file }) => file))]
  return unique.filter((_, position) => position % count === index - 1)
}

function sortKey({ projectName = '', file }: TestFile): string {
  return `${projectName} ${file}`
}

function listTestFiles(filters: string[]): TestFile[] {
  // `--json` must be last, because it takes a following word as the output file.
  const words = ['vitest', 'list', ...filters, '--filesOnly', '--json']
  const output = execFileSync('npx', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  const files = JSON.parse(output) as TestFile[]
  return files.map(({ file, projectName }) => ({ file: relative(process.cwd(), file), projectName }))
}

if (import.meta.main) {
  const [shard = '', ...filters] = process.argv.slice(2)
  for (const file of selectShard(listTestFiles(filters), parseShard(shard))) console.log(file)
}
