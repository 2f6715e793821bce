import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { findClickHouse } from './clickhouse.ts'
import { type EngineName, engineNames, type Log } from './engine-process.ts'
import { findNats } from './nats.ts'
import { findPostgres } from './postgres-binaries.ts'
import { findOnPath } from './programs.ts'
import { type Environment, urlName } from './start.ts'
import { findValkey } from './valkey.ts'

/** Installs missing database programs, except for databases with a URL in `env`; otherwise throws with instructions. */
export async function ensureBinaries(log: Log, env: Environment = {}): Promise<void> {
  const needed = engineNames.filter((name) => !env[urlName(name)])
  const missing = await findMissing(needed)
  if (missing.some((name) => name === 'nats' || name === 'valkey')) await runSetup(missing, log)
  const unavailable = await findMissing(missing)
  if (unavailable.length > 0) {
    throw new Error(`${unavailable.join(' and ')}: programs are missing; run \`npm install\` and \`npm run setup\``)
  }
}

const finders: Record<EngineName, () => Promise<string | undefined> | string | undefined> = {
  postgres: findPostgres,
  nats: findNats,
  valkey: findValkey,
  clickhouse: findClickHouse,
}

async function findMissing(names: readonly EngineName[]): Promise<EngineName[]> {
  const found = await Promise.all(names.map((name) => finders[name]()))
  return names.filter((_, index) => found[index] === undefined)
}

async function runSetup(missing: EngineName[], log: Log): Promise<void> {
  if ((await findOnPath('apt-get')).length === 0) return
  log(`${missing.join(' and ')}: programs are missing; running \`npm run setup\``)
  const setup = spawn('/bin/sh', [join(import.meta.dirname, 'setup.sh')], { stdio: ['ignore', 'ignore', 'pipe'] })
  createInterface(setup.stderr).on('line', log)
  await once(setup, 'close')
}
