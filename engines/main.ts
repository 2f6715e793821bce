import { ensureBinaries } from './binaries.ts'
import { startEngines } from './start.ts'

const log = (line: string) => console.error(line)

const askedToStop = new Promise<void>((resolve) => {
  process.once('SIGINT', resolve)
  process.once('SIGTERM', resolve)
})

try {
  await ensureBinaries(log, process.env)
  const engines = await startEngines({ log, env: process.env })
  for (const [name, url] of Object.entries(engines.urls)) console.log(`${name}=${url}`)
  if (Object.keys(engines.processes).length > 0) {
    log('engines are up; ctrl-c stops them and removes their data')
    await askedToStop
    await engines.stop()
  }
} catch (error) {
  log(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
