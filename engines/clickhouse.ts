import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { EngineProgram } from './engine-process.ts'

export function findClickHouse(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('chdb')
  } catch {
    return undefined
  }
}

/** Prepares a ClickHouse process. A `config.xml` in the folder is used as its configuration. */
export async function prepareClickHouse(folder: string, port: number): Promise<EngineProgram> {
  if (!findClickHouse()) throw new Error('clickhouse: the package chdb is not installed; run `npm install`')
  const config = join(folder, 'config.xml')
  const url = `http://127.0.0.1:${port}`
  return {
    name: 'clickhouse',
    url,
    folder,
    command: process.execPath,
    args: [join(import.meta.dirname, 'clickhouse-server/main.ts')],
    env: {
      CH_PATH: join(folder, 'data'),
      CH_PORT: String(port),
      UV_THREADPOOL_SIZE: '24',
      ...(existsSync(config) && { CH_ARGS: `--config-file=${config}` }),
    },
    stopSignal: 'SIGTERM',
    async answers() {
      const response = await fetch(`${url}/?query=SELECT+1`, { signal: AbortSignal.timeout(1000) })
      if (!response.ok) throw new Error(await response.text())
    },
  }
}

const shippedConfig = join(import.meta.dirname, '../deploy/clickhouse/server.xml')

/** The program with the configuration of an installation without Docker. */
export function asInstalled(program: EngineProgram): EngineProgram {
  return { ...program, env: { ...program.env, CH_ARGS: `--config-file=${shippedConfig} --log-level=warning` } }
}

// The weight of a niceness of 3 is half of the usual one, as `CPUWeight=50`.
const niceness = '3'

/** Linux schedules each session as a group, and each engine has a session of its own. Without such groups, the share stays. */
export function weighAsInstalled(pid: number): void {
  const file = `/proc/${pid}/autogroup`
  if (existsSync(file)) writeFileSync(file, niceness)
}
