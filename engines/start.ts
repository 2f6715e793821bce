import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { asInstalled, prepareClickHouse, weighAsInstalled } from './clickhouse.ts'
import {
  type EngineName,
  type EngineProcess,
  type EngineProgram,
  engineNames,
  type Log,
  runEngine,
} from './engine-process.ts'
import { openFolder } from './folder.ts'
import { prepareNats } from './nats.ts'
import { freePort } from './port.ts'
import { preparePostgres, requireTrigrams } from './postgres.ts'
import { prepareValkey } from './valkey.ts'

export type Environment = Record<string, string | undefined>

export type EngineOptions<Name extends EngineName = EngineName> = {
  /** Data folder, which stays after stop(); by default, a temporary folder is used and removed. */
  directory?: string
  /** Ports by database; others listen on any free port. */
  ports?: Partial<Record<Name, number>>
  only?: readonly Name[]
  log?: Log
  /** URLs of running servers (`POSTGRES_URL` …), which are used instead of starting new ones. */
  env?: Environment
  /** Gives ClickHouse the configuration and the share of busy cores that it has in an installation. */
  asInstalled?: boolean
}

export type Engines<Name extends EngineName = EngineName> = {
  urls: Record<UrlName<Name>, string>
  /** Database and NATS processes that were started here. */
  processes: Partial<Record<EngineName, EngineProcess>>
  stop(): Promise<void>
}

type UrlName<Name extends EngineName> = `${Uppercase<Name>}_URL`

export async function startEngines<Name extends EngineName = EngineName>(
  options: EngineOptions<Name> = {},
): Promise<Engines<Name>> {
  const { log = () => {}, env = {}, directory } = options
  const ports: Partial<Record<EngineName, number>> = options.ports ?? {}
  const names: readonly EngineName[] = options.only ?? engineNames
  const urls: Record<string, string | undefined> = {}
  for (const name of names) urls[urlName(name)] = env[urlName(name)]
  const missing = names.filter((name) => !urls[urlName(name)])
  const processes: Engines['processes'] = {}
  const folder = missing.length > 0 ? await openFolder(directory) : undefined

  const start = async (name: EngineName, engineFolder: string) => {
    await mkdir(engineFolder, { recursive: true })
    const program = await preparations[name](engineFolder, ports[name] ?? (await freePort()), log)
    const isInstalled = name === 'clickhouse' && options.asInstalled === true
    const engine = await runEngine(isInstalled ? asInstalled(program) : program, log)
    if (isInstalled) weighAsInstalled(engine.pid)
    processes[name] = engine
    urls[urlName(name)] = program.url
    if (name === 'postgres') await requireTrigrams(program.url)
  }
  const stopAll = async () => {
    await Promise.all(Object.values(processes).map((engine) => engine.stop()))
    await folder?.close()
  }
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= stopAll()
    return stopped
  }

  const outcomes = await Promise.allSettled(missing.map((name) => start(name, join(folder?.path ?? '', name))))
  const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
  if (reasons.length > 0) {
    await stop()
    throw new Error(reasons.map(errorMessage).join('\n'), { cause: reasons[0] })
  }
  return { urls: urls as Engines<Name>['urls'], processes, stop }
}

export function urlName<Name extends EngineName>(name: Name): UrlName<Name> {
  return `${name.toUpperCase() as Uppercase<Name>}_URL`
}

const preparations: Record<EngineName, (folder: string, port: number, log: Log) => Promise<EngineProgram>> = {
  postgres: preparePostgres,
  nats: prepareNats,
  valkey: prepareValkey,
  clickhouse: prepareClickHouse,
}

function errorMessage(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason)
}
