import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Block } from './blocks.ts'

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))

/** Shell functions for a reader: the command `tributary`, and a curl that fails on errors and times out. */
const prelude = `
set -euo pipefail
tributary() { node ${main} "$@"; }
curl() {
  case "$*" in
    */events/stream*) command curl --max-time 3 "$@" || [ $? -eq 28 ] ;;
    *) command curl --fail-with-body --max-time 60 "$@" ;;
  esac
}
`

type Surroundings = { folder: string; env: Record<string, string | undefined>; stdin?: string }

/** Runs code blocks in order in one bash, as a reader would; an error has their output. */
export async function runShell(blocks: Block[], { folder, env, stdin = '' }: Surroundings): Promise<string> {
  const commands = blocks.map((block) => `echo '== ${block.page}.md:${block.line}'\n${block.text}\n`)
  const child = spawn('bash', ['-c', prelude + commands.join('')], { cwd: folder, env: { ...process.env, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  // A code block may exit before its stdin is written.
  child.stdin.on('error', () => {}).end(stdin)
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  // Bulk calls return errors of single items with status 200.
  if (code !== 0 || /"error":(?!null)/.test(output)) throw new Error(`bash exited with ${code}:\n${output}`)
  return output
}
