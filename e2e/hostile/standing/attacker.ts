import { setTimeout as sleep } from 'node:timers/promises'
import { findServer, type Input, makeInput, type Server } from './inputs.ts'
import { countOutcome, isFailure, type Tally } from './tally.ts'
import type { Tenant } from './tenant.ts'
import { type Outcome, openLane } from './wire.ts'

export type AttackTask = {
  ports: { api: number; redirect: number }
  seed: number
  /** The number of the first input; the last one, if there is only one. */
  first: number
  only: boolean
  perSecond: number
}
export type ToAttacker = { task: AttackTask; tenants: Tenant[] } | { tenants: Tenant[] } | 'report' | 'stop'

const laneCounts: Record<Server, number> = { api: 160, redirect: 16 }
const mostFailures = 200
const longestRequest = 3_000

/*
 * The attacker: a process of its own, so that it uses no time of the processes that it attacks. It gets its task and
 * new tenants as messages, and replies to `report` and `stop` with a tally of the responses since the last one.
 */
let tally: Tally = { counts: {}, failures: [] }
let tenants: Tenant[] = []
let isStopping = false
let running: Promise<unknown> | undefined

process.on('message', async (message: ToAttacker) => {
  if (typeof message === 'object') {
    tenants = message.tenants
    if ('task' in message) running = attack(message.task)
    return
  }
  if (message === 'stop') {
    isStopping = true
    await running
  }
  const report = tally
  tally = { counts: {}, failures: [] }
  process.send?.(report, () => message === 'stop' && process.exit())
})
process.on('disconnect', () => process.exit())

async function attack({ ports, seed, first, only, perSecond }: AttackTask): Promise<void> {
  const started = performance.now()
  const runLanes = (server: Server) => {
    let next = first
    const takeNumber = () => {
      while (findServer(next) !== server) next += 1
      return next++
    }
    const runLane = async () => {
      using lane = openLane(ports[server])
      while (!isStopping && !(only && next > first)) {
        const number = takeNumber()
        const early = ((number - first) / perSecond) * 1_000 - (performance.now() - started)
        if (early > 1) await sleep(early)
        const input = makeInput(seed, number, tenants)
        const outcomes = await lane.exchange(input)
        count(input, outcomes)
        if (only) console.log(input.parts.map((part) => part.toString('latin1')).join(''), outcomes)
      }
    }
    return Array.from({ length: only ? 1 : laneCounts[server] }, runLane)
  }
  const servers: Server[] = only ? [findServer(first)] : ['api', 'redirect']
  await Promise.all(servers.flatMap(runLanes))
}

function count(input: Input, outcomes: Outcome[]): void {
  for (const [index, name] of input.names.entries()) {
    const outcome = outcomes[index] as Outcome
    countOutcome(tally, name, outcome)
    if (!isFailure(outcome) || tally.failures.length >= mostFailures) continue
    const request = input.parts.map((part) => part.toString('latin1')).join('')
    tally.failures.push({ number: input.number, name, outcome, request: request.slice(0, longestRequest) })
  }
}
