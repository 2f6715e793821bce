import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export type Load = { perSecond: number; p50: number; p99: number; worst: number; answered: number; failures: number }

const script = fileURLToPath(new URL('./load.ts', import.meta.url))

/** Runs the load generator in a separate process. */
export async function runLoad(input: {
  url: string
  host: string
  paths: string[]
  connections: number
  seconds: number
  rate?: number
  distinct?: boolean
  /** Number of the first visitor, with `distinct`. */
  first?: number
}): Promise<Load> {
  const { url, host, paths, connections, seconds, rate = 0, distinct = false, first = 1_000_000 } = input
  const options = { url, host, connections, seconds, rate, first }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const args = [script, ...flags, ...(distinct ? ['--distinct'] : []), ...paths]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: (seconds + 15) * 1000 })
  return JSON.parse(stdout) as Load
}
