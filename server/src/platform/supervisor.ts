import { type ChildProcess, fork } from 'node:child_process'
import { constants, getPriority, setPriority } from 'node:os'
import { type Answer, type Channel, openChannel } from './channel.ts'
import { sleep } from './clock.ts'
import { ConfigError } from './config.ts'
import type { Log } from './log.ts'

/** A process to start; `slot` numbers the processes of one role. */
export type ProcessPlan = {
  role: string
  slot: number
  program: string
  args: string[]
  heapMegabytes: number
  /** Added to the supervisor's niceness: processes with higher values get less time on busy CPUs. */
  niceness: number
  environment: Record<string, string | undefined>
}
export type SupervisedProcess = {
  role: string
  slot: number
  pid: number | null
  /** Whether the process serves: true from its start message until its exit. */
  up: boolean
  restarts: number
  /** Why the process exited last, and when it restarts. */
  problem: string | null
  /** Time of the process's last response, by `performance.now()`; undefined before the first. */
  answeredAt: number | undefined
  ask(command: string, value?: unknown, withinMs?: number): Promise<unknown>
}
/** The process that sent the IPC request; `ended` resolves when it exits. */
export type Asking = { ended: Promise<void> }
export type Supervisor = AsyncDisposable & {
  processes: SupervisedProcess[]
  /** Resolves when every process has been up once; rejects when one refuses to start before that. */
  ready: Promise<void>
}
type Options = {
  log: Log
  /** How long a process may take to stop before it is killed. */
  stopWithinMs: number
  /** Handlers of IPC requests that processes may send to the supervisor. */
  answers: Record<string, (asking: Asking) => unknown>
}

/** Exit code for invalid settings or an engine that is too old (EX_CONFIG of sysexits.h): a restart can't fix them. */
export const refusedSettingsCode = 78
const firstDelayMs = 250
const longestDelayMs = 30_000
const stableMs = 60_000
const pingIntervalMs = 5_000
// A restart aborts running work, so a process without a response is killed only after this long.
const hangsAfterMs = 60_000
// Size of each V8 semi-space, of which V8 has three.
export const semiSpaceMegabytes = 8

/** Returns the delay before a restart; it doubles with each consecutive early exit after the first. */
export function restartDelayMs(earlyEnds: number): number {
  return Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(Math.max(0, earlyEnds - 1), 20))
}

/** Counts consecutive early exits; a process that ran for a minute resets the count. */
export function countEarlyEnds(before: number, ranMs: number): number {
  return ranMs >= stableMs ? 0 : before + 1
}

/** Starts all processes, restarts a process whenever it exits, and stops all when disposed. It connects to no database. */
export function startSupervisor(plans: ProcessPlan[], options: Options): Supervisor {
  const managed = plans.map((plan) => manage(plan, options))
  const ready = Promise.all(managed.map(({ wasUp }) => wasUp)).then(() => {})
  // A handler must exist, because an unhandled rejection would end the supervisor.
  ready.catch(() => {})
  const pinging = setInterval(() => managed.forEach(({ ping }) => void ping()), pingIntervalMs)
  return {
    processes: managed.map(({ state }) => state),
    ready,
    async [Symbol.asyncDispose]() {
      clearInterval(pinging)
      await Promise.all(managed.map(({ stop }) => stop()))
    },
  }
}

/** Sets the niceness before the process starts threads, which inherit it. */
function lowerPriority(pid: number, niceness: number): void {
  if (niceness === 0) return
  try {
    setPriority(pid, Math.min(constants.priority.PRIORITY_LOW, getPriority() + niceness))
  } catch {
    // The process has already exited, or the system does not permit it: the niceness stays as it is.
  }
}

type Running = { child: ChildProcess; channel: Channel; ended: Promise<void> }

function manage(plan: ProcessPlan, { log, answers, stopWithinMs }: Options) {
  const { role, slot } = plan
  const wasUp = Promise.withResolvers<void>()
  let running: Running | undefined
  let earlyEnds = 0
  let timer: NodeJS.Timeout | undefined
  let isStopping = false

  const state: SupervisedProcess = {
    role,
    slot,
    pid: null,
    up: false,
    restarts: 0,
    problem: null,
    answeredAt: undefined,
    async ask(command, value, withinMs) {
      if (!running) throw new Error(state.problem ?? 'the process has not been started yet')
      const answer = await running.channel.ask(command, value, withinMs)
      state.answeredAt = performance.now()
      return answer
    },
  }

  function start(): void {
    const child = fork(plan.program, plan.args, {
      env: plan.environment,
      // Command-line flags override NODE_OPTIONS.
      execArgv: [
        ...process.execArgv,
        `--max-old-space-size=${plan.heapMegabytes}`,
        `--max-semi-space-size=${semiSpaceMegabytes}`,
      ],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const ended = Promise.withResolvers<void>()
    const asking = { ended: ended.promise }
    const bound = Object.entries(answers).map(([command, answer]): [string, Answer] => [command, () => answer(asking)])
    const channel = openChannel(child, { ...Object.fromEntries(bound), up: markUp })
    const since = performance.now()
    running = { child, channel, ended: ended.promise }
    state.pid = child.pid ?? null
    if (child.pid !== undefined) lowerPriority(child.pid, plan.niceness)
    const end = (code: number | null, reason: string) => {
      if (running?.child !== child) return
      running = undefined
      ended.resolve()
      whenEnded(code, reason, performance.now() - since)
    }
    child.once('exit', (code, signal) => end(code, signal ? `ended by ${signal}` : `ended with code ${code}`))
    child.once('error', (error) => end(null, error.message))
  }

  function markUp(): void {
    state.up = true
    state.problem = null
    state.answeredAt = performance.now()
    wasUp.resolve()
  }

  function whenEnded(code: number | null, reason: string, ranMs: number): void {
    const { pid } = state
    Object.assign(state, { pid: null, up: false, problem: reason })
    if (isStopping) return
    // The process has logged the reason. Rejecting has no effect after the process was up once.
    if (code === refusedSettingsCode) wasUp.reject(new ConfigError(`The ${role} refused to start.`))
    earlyEnds = countEarlyEnds(earlyEnds, ranMs)
    const delayMs = restartDelayMs(earlyEnds)
    state.problem = `${reason}, restarts after ${delayMs} ms`
    log.error({ role, slot, pid, reason, delayMs }, 'process ended, will restart')
    timer = setTimeout(restart, delayMs)
  }

  function restart(): void {
    state.restarts += 1
    start()
  }

  start()
  return {
    state,
    wasUp: wasUp.promise,
    /** Kills a process that has not responded for a minute, so that it restarts. */
    async ping(): Promise<void> {
      const pinged = running
      if (!pinged || !state.up) return
      await state.ask('ping', undefined, pingIntervalMs - 500).catch(() => {})
      const silentMs = performance.now() - (state.answeredAt ?? 0)
      if (running !== pinged || silentMs < hangsAfterMs) return
      log.error({ role, slot, pid: state.pid, silentMs: Math.round(silentMs) }, 'process does not answer, killing it')
      pinged.child.kill('SIGKILL')
    },
    async stop(): Promise<void> {
      isStopping = true
      clearTimeout(timer)
      const last = running
      if (!last) return
      last.child.kill('SIGTERM')
      const finished = new AbortController()
      void last.ended.then(() => finished.abort())
      await sleep(stopWithinMs, finished.signal)
      if (running !== last) return
      log.error({ role, slot, pid: state.pid, stopWithinMs }, 'process did not stop in time, killing it')
      last.child.kill('SIGKILL')
      await last.ended
    },
  }
}
