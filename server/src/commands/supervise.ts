import { fileURLToPath } from 'node:url'
import { type Config, countVisitorProcesses, environmentWith } from '../platform/config.ts'
import type { Readiness } from '../platform/health.ts'
import { canSharePort } from '../platform/listen.ts'
import type { Log } from '../platform/log.ts'
import { formatMetric, mergeMetrics } from '../platform/metrics-text.ts'
import { type Report, startOps } from '../platform/ops.ts'
import { type Asking, type ProcessPlan, type SupervisedProcess, startSupervisor } from '../platform/supervisor.ts'
import { judgeReadiness, type ProcessHealth } from './role-health.ts'
import type { RunningRole } from './serve-role.ts'

type Environment = Record<string, string | undefined>
type Role = Config['ROLES'][number]

const program = fileURLToPath(new URL('../main.ts', import.meta.url))
const readinessWithinMs = 2_000
const figuresWithinMs = 3_000
const hostWithinMs = 6_000
// Added to SHUTDOWN_DRAIN_MS and SHUTDOWN_GRACE_MS, for the worker's last batch and closing connections.
const stopMarginMs = 6_000
const streamsStayMs = 30_000
// The worker yields to the roles that clients wait for, and still gets a quarter of a fully used processor.
const workerNiceness = 5
// glibc would otherwise keep freed memory in an arena for each thread: 60 MB more for three processes under load.
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' }

export type Supervised = RunningRole & { ready: Promise<void> }

/** Starts a child process per role, several for the redirect. This process only supervises them and serves OPS_PORT. */
export async function startSupervised(config: Config, log: Log, environment?: Environment): Promise<Supervised> {
  await using started = new AsyncDisposableStack()
  const stopping = new AbortController()
  const plans = planProcesses(config, await countRedirects(config, log), environment)
  const processes: SupervisedProcess[] = []
  const allowsHost = (query: URLSearchParams) => askAny(processes, 'tls-allowed', query.get('domain') ?? '')
  // Start OPS_PORT before the child processes: a taken port starts none, and health is available until the end.
  started.use(
    await startOps({ config, log }, reportAll(processes, stopping.signal), { '/internal/tls-allowed': allowsHost }),
  )
  const turns = openTurns()
  const supervisor = started.use(
    startSupervisor(plans, {
      log,
      stopWithinMs: config.SHUTDOWN_DRAIN_MS + config.SHUTDOWN_GRACE_MS + stopMarginMs,
      answers: {
        'streams-turn': ({ ended }: Asking) => turns.take(ended),
        'streams-done': () => turns.finish(),
        'streams-failed': () => turns.giveUp(),
      },
    }),
  )
  processes.push(...supervisor.processes)
  const opened = started.move()
  return {
    ready: supervisor.ready,
    // The processes drain themselves when they get their signal.
    drain: async () => stopping.abort(),
    [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
  }
}

async function countRedirects(config: Config, log: Log): Promise<number> {
  const { HOST, ROLES, REDIRECT_PORT } = config
  if (!ROLES.includes('redirect')) return 0
  const count = countVisitorProcesses(config)
  if (count === 1 || (await canSharePort(HOST, REDIRECT_PORT))) return count
  log.warn({ processes: count }, 'this system does not let processes share a port, starting one redirect process')
  return 1
}

export function planProcesses(config: Config, redirects: number, environment?: Environment): ProcessPlan[] {
  const heapMegabytes: Record<Role, number> = {
    worker: config.WORKER_HEAP_MEGABYTES,
    api: config.API_HEAP_MEGABYTES,
    redirect: config.REDIRECT_HEAP_MEGABYTES,
  }
  const roles = (Object.keys(heapMegabytes) as Role[]).filter((role) => config.ROLES.includes(role))
  return roles.flatMap((role) =>
    Array.from({ length: role === 'redirect' ? redirects : 1 }, (_, slot) => ({
      role,
      slot,
      program,
      args: ['serve', '--slot', String(slot)],
      heapMegabytes: heapMegabytes[role],
      niceness: role === 'worker' ? workerNiceness : 0,
      environment: environmentWith({ ...malloc, ROLES: role, REDIRECT_PROCESSES: String(redirects || 1) }, environment),
    })),
  )
}

/** Lets one process at a time create NATS streams, and none soon after another did. A turn ends with its process. */
export function openTurns(stayMs = streamsStayMs) {
  let last: Promise<void> = Promise.resolve()
  let doneAt = Number.NEGATIVE_INFINITY
  let finishTurn = () => {}
  return {
    /** Waits for the caller's turn. Returns true when it must create the streams, false when another process has. */
    async take(ended: Promise<void>): Promise<boolean> {
      const before = last
      const { promise, resolve } = Promise.withResolvers<void>()
      last = promise
      await before
      if (performance.now() - doneAt < stayMs) {
        resolve()
        return false
      }
      finishTurn = resolve
      void ended.then(resolve)
      return true
    },
    finish(): void {
      doneAt = performance.now()
      finishTurn()
    },
    /** Ends a turn without streams, so that the next process creates them. */
    giveUp(): void {
      finishTurn()
    },
  }
}

function reportAll(processes: SupervisedProcess[], stopping: AbortSignal): Report {
  return {
    stopping,
    async readiness(query) {
      return judgeReadiness(await Promise.all(processes.map(checkHealth)), query.get('role') ?? undefined)
    },
    async figures() {
      const running = processes.filter(({ up }) => up)
      const asked = running.map((one) => one.ask('figures', undefined, figuresWithinMs).catch(() => ''))
      return mergeMetrics([...ownFigures(processes), ...(await Promise.all(asked)).map(String)])
    },
  }
}

async function checkHealth(one: SupervisedProcess): Promise<ProcessHealth> {
  const asked = one.up
    ? one.ask('readiness', undefined, readinessWithinMs)
    : Promise.reject(new Error('the process is starting'))
  const answer = await asked.then(
    (value) => value as Readiness,
    (error: Error) => error.message,
  )
  const { role, slot, pid, up, restarts } = one
  const silentMs = one.answeredAt === undefined ? undefined : performance.now() - one.answeredAt
  const shown = { role, slot, pid, up, restarts, ...(silentMs !== undefined && { silentMs }) }
  if (typeof answer === 'string') return { ...shown, ready: false, problem: one.problem ?? answer }
  const missing = Object.entries(answer.engines).filter(([, { ok, needed }]) => needed && !ok)
  const problem = missing.map(([engine]) => `${engine} does not answer`).join(', ')
  return { ...shown, ...answer, ...(problem && { problem }) }
}

function ownFigures(processes: SupervisedProcess[]): string[] {
  const labels = ({ role, slot }: SupervisedProcess) => ({ role, slot })
  return [
    formatMetric(
      'tributary_process_up',
      'gauge',
      '1 for a running process, 0 while it is starting or has ended.',
      processes.map((one) => ({ labels: labels(one), value: one.up ? 1 : 0 })),
    ),
    formatMetric(
      'tributary_process_restarts_total',
      'counter',
      'Restarts of processes that ended.',
      processes.map((one) => ({ labels: labels(one), value: one.restarts })),
    ),
  ]
}

/** Asks any running process, the redirects first, because they depend on the fewest engines. */
async function askAny(processes: SupervisedProcess[], command: string, value: string): Promise<boolean> {
  let problem = new Error('no process is up')
  for (const one of processes.filter(({ up }) => up).toReversed()) {
    try {
      return (await one.ask(command, value, hostWithinMs)) === true
    } catch (error) {
      problem = error as Error
    }
  }
  throw problem
}
