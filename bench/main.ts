import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/**
 * `npm run bench [-- --keep]`: measures the event pipeline; `--keep` stores the results in bench/figures.json. Fails below
 * target.
 */
const parts = ['redirect', 'ingest', 'pipeline']
for (const part of parts) {
  console.error(`== ${part}`)
  const script = fileURLToPath(new URL(`./${part}.ts`, import.meta.url))
  const child = spawn(process.execPath, [script, ...process.argv.slice(2)], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) process.exitCode = 1
}
