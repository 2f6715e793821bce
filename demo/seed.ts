import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig } from '../server/src/platform/config.ts'
import { openPlatform } from '../server/src/platform/handles.ts'
import { openLog } from '../server/src/platform/log.ts'
import { isRunning, readSample, readSettings, writeSample } from './installation.ts'
import { makeAppLink } from './person.ts'
import { fillProgram } from './program.ts'
import { fillWorkspace, makeWorkspaces, sampleClicks, sampleDomain } from './sample.ts'

const maxClicks = 10_000_000
const say = (line: string) => console.error(line)
process.chdir(join(import.meta.dirname, '..'))

try {
  await seed(readClicks())
} catch (error) {
  say(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
process.exit()

async function seed(count: number): Promise<void> {
  const settings = await readSettings()
  if (!settings || !(await isRunning())) throw new Error('No development installation runs here. Start it: npm run dev')
  const startedAt = performance.now()
  await using platform = await openPlatform(readConfig(settings), openLog('warn'))
  const sample = (await readSample()) ?? { workspaces: await makeWorkspaces(platform), clicks: 0 }
  const { workspaces, clicks: sentBefore } = sample
  // Written before sending, so that a retry generates other visitors.
  await writeSample({ workspaces, clicks: sentBefore + count })
  await Promise.all([
    fillWorkspace(platform, workspaces.business, { count, sentBefore }, say),
    fillProgram(platform, workspaces.business, sampleDomain),
  ])
  say(`Dashboard, signed in once, within an hour: ${await makeAppLink(platform, workspaces)}`)
  say(`Added ${count.toLocaleString('en')} clicks in ${Math.ceil((performance.now() - startedAt) / 1000)} s.`)
}

function readClicks(): number {
  const { values } = parseArgs({ options: { clicks: { type: 'string', default: String(sampleClicks) } } })
  const count = Number(values.clicks)
  if (Number.isInteger(count) && count >= 1 && count <= maxClicks) return count
  throw new Error(`--clicks is ${JSON.stringify(values.clicks)}: it must be a whole number from 1 to ${maxClicks}.`)
}
