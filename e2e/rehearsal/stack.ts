import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  buildCommand,
  type Command,
  type Host,
  healthUrl,
  hosts,
  type Installation,
  openInstallation,
  primaryAddress,
  selectHosts,
  settingsOn,
} from './hosts.ts'
import { type Network, openNetwork } from './network.ts'
import { copyToStandby, isInSync, openClient, preparePrimary, promote } from './postgres.ts'

const run = promisify(execFile)

export type Report = (text: string) => void
/** The hosts of the installation and what runs on them. */
export type Stack = AsyncDisposable & {
  network: Network
  installation: Installation
  primary(): Host
  start(host: Host): Promise<void>
  /** Ends all processes of a host at once. With `power`, its network is gone too, so that connections to it hang. */
  kill(host: Host, options?: { power?: boolean }): Promise<void>
  /** Stops a host's process with SIGTERM, as systemd does. */
  stop(host: Host): Promise<void>
  /** Makes the standby the primary, with the primary's address; the former primary, which is dead, becomes its standby later. */
  failOver(): Promise<void>
  makeStandby(): Promise<void>
  /** Uses another version for processes that start from now on, and for commands. */
  use(program: string): void
  tributary(...words: string[]): Promise<string>
  /** How often a process ended by itself, by host. */
  exits: Map<string, number>
}

export const currentProgram = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const startWithinMs = 600_000
const commandWithinMs = 600_000
const restartAfterMs = 1_000

/** Starts the engines of all hosts, then `tributary migrate`. Caddy and the roles start with `startRoles`. */
export async function openStack(id: string, folder: string, report: Report, program = currentProgram): Promise<Stack> {
  const network = openNetwork(id)
  const installation = await openInstallation(folder)
  const postgresCommand = await preparePrimary(folder)
  const running = new Map<string, ChildProcess>()
  const exits = new Map<string, number>()
  let [primary, standby] = selectHosts('postgres') as [Host, Host]
  let isOver = false
  await network.addAddress(primary.name, primaryAddress)

  function launch(host: Host, { command, args, env, ...options }: Command): void {
    mkdirSync(join(folder, host.name), { recursive: true })
    const log = openSync(join(folder, host.name, 'log'), 'a')
    const given = { PATH: process.env.PATH, HOME: folder, ...env }
    const stdio = ['ignore', log, log] as const
    const child = network.spawn(host.name, command, args, { ...options, env: given, stdio: [...stdio] })
    closeSync(log)
    running.set(host.name, child)
    child.on('error', () => {})
    // As systemd does with Restart=always.
    child.once('exit', () => {
      if (isOver || running.get(host.name) !== child) return
      exits.set(host.name, (exits.get(host.name) ?? 0) + 1)
      setTimeout(() => {
        if (!isOver && running.get(host.name) === child) launch(host, { command, args, env, ...options })
      }, restartAfterMs)
    })
  }

  const stack: Stack = {
    network,
    installation,
    exits,
    primary: () => primary,
    async start(host) {
      await network.plug(host.name)
      launch(host, host.kind === 'postgres' ? postgresCommand(host) : buildCommand(installation, host, program))
      const until = Date.now() + startWithinMs
      while (!(await isUp(host))) {
        if (Date.now() > until)
          throw new Error(`${host.name} is not up after ${startWithinMs} ms:\n${await lastLines(folder, host)}`)
        await sleep(100)
      }
    },
    async kill(host, { power = false } = {}) {
      running.delete(host.name)
      if (power) await network.unplug(host.name)
      await network.kill(host.name)
    },
    async stop(host) {
      const child = running.get(host.name)
      running.delete(host.name)
      if (!child || child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
    async failOver() {
      await network.removeAddress(primary.name, primaryAddress)
      await promote(standby)
      await network.addAddress(standby.name, primaryAddress)
      ;[primary, standby] = [standby, primary]
    },
    async makeStandby() {
      await copyToStandby(folder, primary, standby)
      await stack.start(standby)
      while (!(await isInSync(primary))) await sleep(100)
    },
    use(other) {
      program = other
    },
    async tributary(...words) {
      const env = { PATH: process.env.PATH, ...settingsOn(installation, selectHosts('worker')[0] as Host) }
      const { stdout } = await run(process.execPath, [program, ...words], { env, timeout: commandWithinMs })
      return stdout
    },
    async [Symbol.asyncDispose]() {
      isOver = true
      for (const { name } of hosts) await network.kill(name)
    },
  }

  report('starting PostgreSQL with a synchronous standby, NATS, Valkey and ClickHouse')
  const engines = hosts.filter(({ kind }) => ['nats', 'valkey', 'clickhouse'].includes(kind))
  const startPostgres = async () => {
    await stack.start(primary)
    await stack.makeStandby()
  }
  await Promise.all([startPostgres(), ...engines.map((host) => stack.start(host))])
  report('tributary migrate')
  await stack.tributary('migrate')
  return stack
}

export async function startRoles(stack: Stack): Promise<void> {
  // The first one creates the streams, for which the others would compete.
  const [first, ...others] = hosts
    .filter(({ kind }) => ['api', 'redirect', 'worker', 'caddy'].includes(kind))
    .toSorted((one, other) => Number(other.kind === 'api') - Number(one.kind === 'api'))
  await stack.start(first as Host)
  await Promise.all(others.map((host) => stack.start(host)))
}

/** Certificates of the authorities of all Caddys. */
export async function readAuthorities({ installation }: Stack): Promise<string> {
  const paths = selectHosts('caddy').map(({ name }) =>
    join(installation.folder, name, 'caddy/pki/authorities/local/root.crt'),
  )
  return (await Promise.all(paths.map((path) => readFile(path, 'utf8')))).join('\n')
}

export async function lastLines(folder: string, { name }: Host, count = 15): Promise<string> {
  const text = await readFile(join(folder, name, 'log'), 'utf8').catch(() => '')
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

async function isUp(host: Host): Promise<boolean> {
  try {
    if (host.kind === 'postgres') {
      await using client = await openClient(host)
      await client.query('select 1')
    } else if (host.kind === 'valkey') {
      const socket = connect(6379, host.address).on('error', () => {})
      await once(socket, 'connect', { signal: AbortSignal.timeout(1_000) })
      socket.destroy()
    } else {
      const response = await fetch(healthUrl(host) as string, {
        redirect: 'manual',
        signal: AbortSignal.timeout(2_000),
      })
      return host.kind === 'caddy' || response.ok
    }
    return true
  } catch {
    return false
  }
}
