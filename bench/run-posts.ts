import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { PostLoad } from './post-load.ts'
import type { Load } from './run-load.ts'

const script = fileURLToPath(new URL('./post-load.ts', import.meta.url))

/** Sends POST requests from a separate process; throws when one of them fails. */
export async function runPosts(load: PostLoad): Promise<Load> {
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(load))
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  const result = JSON.parse(output) as Load & { problem: string }
  if (result.failures > 0) throw new Error(`${result.failures} requests to ${load.url} failed: ${result.problem}`)
  return result
}
