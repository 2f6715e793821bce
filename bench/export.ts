import { linkNumbers } from '../server/src/features/links/service.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { startServer } from '../server/test/server-process.ts'
import { generateEvents } from './data/events.ts'
import { readArguments, report } from './figures.ts'
import { openBench } from './stack.ts'

/**
 * Exports many events once: checks that the export is complete, and measures its speed and the memory of the process.
 * The heap limits are those of the container image and systemd units: without them, V8 lets the heap grow on a large
 * machine.
 */
const [eventsText = '5000000', ...given] = readArguments()
const events = Number(eventsText)
const formats = given.length > 0 ? given : ['csv', 'ndjson']
const mostMegabytes = 300

await using bench = await openBench()
const { platform, environment } = bench
const workspace = await buildWorkspace(platform)
const ctx = contextIn(platform, workspace.id)
const links = await Promise.all(Array.from({ length: 200 }, () => buildLink(platform, workspace)))
const numbers = await linkNumbers(ctx, { ids: links.map(({ id }) => id) })
await generateEvents(platform, { workspaceId: workspace.id, numbers, count: events })

const server = await startServer({
  ...environment,
  ROLES: 'api',
  NODE_OPTIONS: '--max-semi-space-size=16 --max-old-space-size=512',
})
try {
  const rows: (string | number)[][] = []
  for (const format of formats) rows.push([format, ...(await measure(format))])
  const columns = ['rows', 'MB sent', 'seconds', 'rows/s', 'RSS before, MB', 'maximum RSS, MB']
  report('export', { title: `export of ${events} events`, columns, rows })
} finally {
  await server.stop()
}

async function measure(format: string): Promise<number[]> {
  const before = await residentMegabytes()
  let peak = before
  const watching = setInterval(async () => {
    peak = Math.max(peak, await residentMegabytes())
  }, 200)
  const started = performance.now()
  const { lines, bytes } = await download(format).finally(() => clearInterval(watching))
  const seconds = (performance.now() - started) / 1000
  const rows = lines - (format === 'csv' ? 1 : 0)
  if (rows !== events) throw new Error(`${format}: ${rows} rows instead of ${events}`)
  if (peak > mostMegabytes) process.exitCode = 1
  return [rows, bytes / 1e6, seconds, rows / seconds, before, peak].map(Math.round)
}

async function download(format: string): Promise<{ lines: number; bytes: number }> {
  const response = await fetch(`${server.api}/events/export?interval=all&format=${format}`, {
    headers: { authorization: `Bearer ${workspace.key}` },
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  let [lines, bytes] = [0, 0]
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines += 1
  }
  return { lines, bytes }
}

async function residentMegabytes(): Promise<number> {
  const text = await (await fetch(`${server.ops}/metrics`)).text()
  return Number(/^tributary_process_resident_memory_bytes\{.* (\S+)$/m.exec(text)?.[1]) / 1e6
}
