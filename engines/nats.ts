import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EngineProgram } from './engine-process.ts'
import { firstAnswer } from './port.ts'
import { findOnPath, isExecutable, projectFolder, readVersion } from './programs.ts'

// Older NATS servers reject `sync_interval: always`; 2.9 does not start with it.
const oldestVersion = [2, 12] as const

export async function findNats(): Promise<string | undefined> {
  const ownProgram = join(projectFolder, '.tools/nats/usr/sbin/nats-server')
  const programs = [...((await isExecutable(ownProgram)) ? [ownProgram] : []), ...(await findOnPath('nats-server'))]
  for (const program of programs) {
    if (isNewEnough(await readVersion(program))) return program
  }
}

export async function requireNats(): Promise<string> {
  const program = await findNats()
  if (!program) throw new Error(`nats: no nats-server ${oldestVersion.join('.')} or newer; run \`npm run setup\``)
  return program
}

export async function prepareNats(folder: string, port: number): Promise<EngineProgram> {
  const command = await requireNats()
  const configFile = join(folder, 'nats.conf')
  await writeFile(configFile, formatConfig(port, join(folder, 'jetstream')))
  return {
    name: 'nats',
    url: `nats://127.0.0.1:${port}`,
    folder,
    command,
    args: ['--config', configFile],
    stopSignal: 'SIGTERM',
    answers: () => firstAnswer(port, '', /^INFO .*"jetstream":true/),
  }
}

function formatConfig(port: number, storeFolder: string): string {
  return `listen: "127.0.0.1:${port}"
jetstream {
  store_dir: ${JSON.stringify(storeFolder)}
  sync_interval: always
}
`
}

function isNewEnough([major = 0, minor = 0]: number[]): boolean {
  const [oldestMajor, oldestMinor] = oldestVersion
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)
}
