import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { parseArgs } from 'node:util'

/** All checks that need no database, slow ones first, so that two at a time finish sooner. `--without <name>` leaves one out. */
const all = [
  { name: 'style', command: 'npx biome ci --error-on-warnings --colors=off .' },
  { name: 'types', command: 'npx tsc -p .' },
  { name: 'dashboard', command: 'npx tsc -p dashboard' },
  { name: 'tracker', command: 'npx tsc -p tracker' },
  { name: 'docs', command: 'npx tsc -p docs' },
  { name: 'unused', command: 'npx knip' },
  { name: 'floors', command: 'npx vitest run --project unit' },
  { name: 'openapi', command: 'node contract/src/openapi.ts --check' },
  { name: 'breaking', command: 'node .ci/breaking.ts', showsResult: true },
  { name: 'licences', command: 'node .ci/licences.ts' },
  { name: 'lockfile', command: 'node .ci/lockfile.ts' },
  { name: 'title', command: 'node .ci/title.ts' },
]
const { without } = parseArgs({ options: { without: { type: 'string' } } }).values
const checks = all.filter(({ name }) => name !== without)
const concurrency = 2

const root = join(import.meta.dirname, '..')
const binaries = join(root, 'node_modules/.bin')
const startedAt = performance.now()
const waiting = [...checks]
const failed: string[] = []

await Promise.all(
  Array.from({ length: concurrency }, async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) await verify(check)
  }),
)

console.log(
  `${checks.length - failed.length} of ${checks.length} checks passed in ${secondsSince(startedAt)}` +
    (failed.length > 0 ? `; failed: ${failed.join(', ')}` : ''),
)
process.exitCode = failed.length > 0 ? 1 : 0

async function verify({ name, command, showsResult }: (typeof checks)[number]): Promise<void> {
  const checkStartedAt = performance.now()
  const { code, output } = await run(command)
  const line = `${name.padEnd(9)} ${secondsSince(checkStartedAt)}`
  const result = showsResult ? `, ${output.trim().split('\n').at(-1)}` : ''
  if (code === 0) return console.log(`ok   ${line}${result}`)
  failed.push(name)
  console.log(`FAIL ${line}\n${output.trimEnd().replace(/^/gm, '     ')}\n     Run again: ${command}`)
}

function run(command: string): Promise<{ code: number | null; output: string }> {
  const [program = '', ...parameters] = command.replace(/^npx /, '').split(' ')
  const child = spawn(program, parameters, {
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', PATH: `${binaries}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return new Promise((resolve) => {
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    child.on('error', (error) => resolve({ code: 1, output: `${program} did not start: ${error.message}` }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

function secondsSince(timeMs: number): string {
  return `${((performance.now() - timeMs) / 1000).toFixed(1)} s`
}
