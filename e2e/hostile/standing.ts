import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { Platform } from '../../server/src/platform/context.ts'
import { buildLink, buildWorkspace } from '../../server/test/build.ts'
import type { ServerProcess } from '../../server/test/server-process.ts'
import { startSlowReceiver } from './hostile.ts'
import { type Call, startHonest, summarize } from './measure.ts'
import type { AttackTask, ToAttacker } from './standing/attacker.ts'
import { mergeTally, type Tally, totalCount } from './standing/tally.ts'
import { buildTenant, type Tenant } from './standing/tenant.ts'
import { readProcesses, watchMemory } from './watch.ts'

/** Settings that let the attacker's requests through the rate limits, from any address. */
export const standingSettings = {
  TRUSTED_PROXIES: '127.0.0.1',
  ENTERPRISE_REQUESTS_PER_MINUTE: '100000000',
  ENTERPRISE_ANALYTICS_PER_SECOND: '100000',
  PUBLISHABLE_KEY_REQUESTS_PER_MINUTE: '100000000',
  WORKSPACES_PER_USER: '1000',
}

export type Plan = { seconds: number; perSecond: number; seed: number; only?: number; say: (line: string) => void }

const aloneMs = 5_000
const tenantCount = 6
/** A new tenant replaces the oldest so often: an attacker soon deletes what it has. */
const tenantEveryMs = 30_000
const program = fileURLToPath(new URL('./standing/attacker.ts', import.meta.url))

/** Attacks a running installation beside an honest workspace; returns what both got. */
export async function attack(platform: Platform, server: ServerProcess, plan: Plan) {
  await using parts = new AsyncDisposableStack()
  const receiver = parts.use(await startSlowReceiver())
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { trackConversion: true })
  const processes = await readProcesses(server.ops)
  const memory = parts.use(watchMemory([...processes, { role: 'supervisor', pid: server.pid }], 'own'))
  const tenants: Tenant[] = []
  while (tenants.length < tenantCount) tenants.push(await buildTenant(platform, receiver.url))

  const { key, domain } = workspace
  const honest = parts.use(startHonest({ api: server.api, redirect: server.redirect, key, domain, link }))
  // Excludes the first calls, which open connections and fill caches.
  await pause(3_000)
  await honest.report()
  await pause(aloneMs)
  const alone = (await honest.report()).calls

  const attacker = parts.use(startAttacker())
  const ports = { api: Number(new URL(server.api).port), redirect: Number(new URL(server.redirect).port) }
  const { seed, perSecond, only } = plan
  attacker.begin({ ports, seed, perSecond, first: only ?? 0, only: only !== undefined }, tenants)
  const tally: Tally = { counts: {}, failures: [] }
  const beside: Call[] = []
  const minutes: ReturnType<typeof memory.highest>[] = []
  const started = performance.now()
  const endsAt = started + plan.seconds * 1_000
  let renewAt = started + tenantEveryMs
  for (let minute = started; performance.now() < endsAt; ) {
    await pause(Math.min(1_000, Math.max(0, endsAt - performance.now())))
    if (performance.now() > renewAt) {
      tenants.splice(0, 1, await buildTenant(platform, receiver.url))
      tenants.push(...tenants.splice(0, 1))
      attacker.renew(tenants)
      renewAt = performance.now() + tenantEveryMs
    }
    if (performance.now() < Math.min(minute + 60_000, endsAt)) continue
    minute = performance.now()
    const [attacked, { calls }] = await Promise.all([attacker.report(), honest.report()])
    mergeTally(tally, attacked)
    beside.push(...calls)
    minutes.push(memory.highest())
    memory.reset()
    const { sent, passed, failed, busy } = totalCount(tally)
    const { p99, kinds } = summarize(calls)
    plan.say(
      `${Math.round((minute - started) / 1_000)} s: ${sent} inputs, ${passed} passed, ${failed} failed, ${busy} busy; honest p99 ${p99} ms ${JSON.stringify(kinds)}; memory ${JSON.stringify(minutes.at(-1))}`,
    )
    for (const { number, name, outcome } of attacked.failures.slice(0, 10))
      plan.say(`  ${outcome.status} ${name}, --seed ${seed} --only ${number}: ${outcome.text.slice(0, 200)}`)
  }
  mergeTally(tally, await attacker.stop())
  const last = await honest.stop()
  beside.push(...last.calls)
  const restarts = (await readProcesses(server.ops)).filter(
    ({ pid, restarts }) => restarts > 0 || !processes.some((before) => before.pid === pid),
  )
  return {
    tenants,
    tally,
    alone,
    beside,
    minutes,
    restarts,
    workspace,
    link,
    visits: last.visits,
    leads: last.leads,
  }
}

/** Starts the attacker on the last core, if there are several; all other processes may use all of them. */
function startAttacker() {
  const core = availableParallelism() > 1 ? lastCore() : undefined
  const child: ChildProcess = fork(program, {
    env: { PATH: process.env.PATH },
    serialization: 'advanced',
    execArgv: core === undefined ? [] : ['-c', core, process.execPath],
    ...(core !== undefined && { execPath: 'taskset' }),
  })
  const send = (message: ToAttacker) => void child.send(message)
  const ended = once(child, 'exit').then(([code]) => new Error(`The attacker exited with ${code}`))
  const ask = async (message: 'report' | 'stop'): Promise<Tally> => {
    send(message)
    const first = await Promise.race([once(child, 'message'), ended])
    if (first instanceof Error) throw first
    return first[0] as Tally
  }
  return {
    begin: (task: AttackTask, tenants: Tenant[]) => send({ task, tenants }),
    renew: (tenants: Tenant[]) => send({ tenants }),
    report: () => ask('report'),
    stop: () => ask('stop'),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

/** The last core that this process may use; undefined where there is no such list. */
function lastCore(): string | undefined {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : ''
  return /^Cpus_allowed_list:.*?(\d+)$/m.exec(status)?.[1]
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
