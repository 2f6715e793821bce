import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

/**
 * `npm run bench [-- --keep]`: measures the event pipeline; `--keep` adds the results to bench/RESULTS.md. Fails below
 * target.
 */
const parts = ['redirect', 'ingest', 'pipeline']
const tables: string[] = []
for (const part of parts) {
  console.error(`== ${part}`)
  const script = fileURLToPath(new URL(`./${part}.ts`, import.meta.url))
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  if (output === '') throw new Error(`bench/${part}.ts exited with ${code} before it printed results`)
  if (code !== 0) process.exitCode = 1
  console.log(output)
  tables.push(output.trim())
}
if (process.argv.includes('--keep')) {
  const results = new URL('./RESULTS.md', import.meta.url)
  const memory = Math.round(totalmem() / 2 ** 30)
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${memory} GiB, Node ${process.versions.node}`
  const title = `## ${new Date().toISOString().slice(0, 10)}, \`npm run bench\`, ${machine}`
  await writeFile(results, `${(await readFile(results, 'utf8')).trimEnd()}\n\n${title}\n\n${tables.join('\n\n')}\n`)
}
