import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SystemUser } from './programs.ts'

export const engineNames = ['postgres', 'nats', 'valkey', 'clickhouse'] as const

export type EngineName = (typeof engineNames)[number]

/** How to run a database or NATS process; `folder` gets its log and pid file. */
export type EngineProgram = {
  name: EngineName
  url: string
  folder: string
  command: string
  args: string[]
  env?: Record<string, string>
  user?: SystemUser
  stopSignal: 'SIGTERM' | 'SIGINT'
  /** Probes once; rejects if the server does not respond yet, so that the caller retries. */
  answers(): Promise<void>
}

export type EngineProcess = {
  readonly pid: number
  readonly exited: boolean
  kill(signal: NodeJS.Signals): void
  /** Restarts the process with the same port and data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export type Log = (line: string) => void

const startWithinMs = 30_000
const stopWithinMs = 5000
const pollIntervalMs = 20
const expectedToEnd = new WeakSet<ChildProcess>()

export async function runEngine(program: EngineProgram, log: Log): Promise<EngineProcess> {
  let child = await launchUntilReady(program, log, startWithinMs)
  return {
    get pid() {
      return requirePid(child)
    },
    get exited() {
      return hasExited(child)
    },
    kill(signal) {
      expectedToEnd.add(child)
      child.kill(signal)
    },
    async restart() {
      await endProcess(child, program.stopSignal)
      child = await relaunch(program, log)
    },
    async stop() {
      await endProcess(child, program.stopSignal)
    },
  }
}

export async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasExited(child)) return
  expectedToEnd.add(child)
  const exited = once(child, 'exit')
  child.kill(signal)
  const killTimer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
  await exited
  clearTimeout(killTimer)
}

export function pidFilePath(engineFolder: string): string {
  return join(engineFolder, 'pid')
}

// Starts a process again. Children of a killed process may keep its memory or port for a moment, so it retries.
async function relaunch(program: EngineProgram, log: Log): Promise<ChildProcess> {
  const deadline = Date.now() + startWithinMs
  for (;;) {
    try {
      return await launchUntilReady(program, log, deadline - Date.now())
    } catch (error) {
      if (Date.now() > deadline - startWithinMs / 2) throw error
      await sleep(200)
    }
  }
}

async function launchUntilReady(program: EngineProgram, log: Log, withinMs: number): Promise<ChildProcess> {
  const startedAt = performance.now()
  const child = launch(program)
  let lastRefusal: unknown
  while (performance.now() - startedAt < withinMs) {
    if (hasExited(child)) throw engineError(program, `ended with ${exitCause(child)} while starting`)
    try {
      await program.answers()
      log(`${program.name} is up on ${program.url} after ${Math.round(performance.now() - startedAt)} ms`)
      child.once('exit', () => {
        if (!expectedToEnd.has(child)) log(engineError(program, `ended with ${exitCause(child)}`).message)
      })
      return child
    } catch (refusal) {
      lastRefusal = refusal
    }
    await sleep(pollIntervalMs)
  }
  await endProcess(child, 'SIGKILL')
  throw engineError(program, `did not respond within ${Math.round(withinMs / 1000)} s (${String(lastRefusal)})`)
}

// Writes the shell's pid for stop-orphans.sh; `exec` makes it the pid of the server.
const notePidAndRun = 'echo "$1 $$" >"$2" && shift 2 && exec "$@"'

function launch({ folder, command, args, env, user, stopSignal }: EngineProgram): ChildProcess {
  const pidFile = pidFilePath(folder)
  const logFile = openSync(logPath(folder), 'a')
  const shellArguments = ['-c', notePidAndRun, 'sh', stopSignal.replace('SIG', ''), pidFile, command, ...args]
  const child = spawn('/bin/sh', shellArguments, {
    cwd: folder,
    env: { ...process.env, ...env },
    uid: user?.uid,
    gid: user?.gid,
    // A separate session does not get the terminal's ctrl-c, so that clients can stop before the database.
    detached: true,
    stdio: ['ignore', logFile, logFile],
  })
  closeSync(logFile)
  child.on('error', () => {})
  child.once('exit', () => rmSync(pidFile, { force: true }))
  return child
}

function hasExited(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null
}

function exitCause(child: ChildProcess): string {
  return child.signalCode ?? `code ${child.exitCode}`
}

function requirePid(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('the process has not been started')
  return child.pid
}

function engineError({ name, folder, command }: EngineProgram, problem: string): Error {
  const lastLines = readFileSync(logPath(folder), 'utf8').trimEnd().split('\n').slice(-15)
  return new Error(
    [
      `${name} (${command}) ${problem}. The last lines of its log:`,
      ...lastLines.map((line) => `  ${line}`),
      `Fix the cause, or set ${name.toUpperCase()}_URL to a running server of your own.`,
    ].join('\n'),
  )
}

function logPath(folder: string): string {
  return join(folder, 'log')
}
