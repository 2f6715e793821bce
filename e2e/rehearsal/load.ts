import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Tally } from '../faults/load.ts'
import type { Order, Outcome } from './client.ts'
import type { Fixtures } from './fixtures.ts'
import { selectHosts } from './hosts.ts'
import type { Stack } from './stack.ts'

export type Load = { stop(): Promise<Outcome> }
export type Rates = { visits: number; writes: number }

let runs = 0

/** Starts the clients, one in each region, and sends visits and writes at a constant rate until stopped. */
export function startLoad(stack: Stack, fixtures: Fixtures, rates: Rates, { repeats }: { repeats: boolean }): Load {
  runs += 1
  const clients = selectHosts('client').map(({ name, region, number }) => {
    const child = stack.network.spawn(name, process.execPath, [join(import.meta.dirname, 'client.ts')], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: process.env,
    })
    // The nearest Caddy first, as DNS by location returns them.
    const caddies = selectHosts('caddy')
      .toSorted((one, other) => Math.abs(one.region - region) - Math.abs(other.region - region))
      .map(({ address }) => address)
    const order: Order = {
      do: 'start',
      caddies,
      links: fixtures.links,
      perSecond: rates.visits / 2,
      firstVisitor: (2 * runs + number) * 10_000_000,
      repeats,
      writer: { ...fixtures.writer, caddies, prefix: `run-${runs}-${number}`, perSecond: rates.writes / 2 },
    }
    child.send(order)
    return child
  })
  return {
    async stop() {
      return (await Promise.all(clients.map(stopClient))).reduce(add)
    },
  }
}

async function stopClient(child: ChildProcess): Promise<Outcome> {
  const outcome = once(child, 'message')
  const exited = once(child, 'exit').then(([code]) => Promise.reject(new Error(`A client exited with ${code}`)))
  exited.catch(() => {})
  child.send({ do: 'stop' } satisfies Order)
  const [message] = (await Promise.race([outcome, exited])) as [Outcome]
  child.disconnect()
  return message
}

function add(one: Outcome, other: Outcome): Outcome {
  return {
    tally: addTallies(one.tally, other.tally),
    retried: addMaps(one.retried, other.retried),
    incidents: [...one.incidents, ...other.incidents],
    writes: {
      links: one.writes.links + other.writes.links,
      sales: one.writes.sales + other.writes.sales,
      failed: addMaps(one.writes.failed, other.writes.failed),
      givenUp: [...one.writes.givenUp, ...other.writes.givenUp],
    },
  }
}

function addTallies(one: Tally, other: Tally): Tally {
  return {
    sent: one.sent + other.sent,
    answered: one.answered + other.answered,
    repeats: one.repeats + other.repeats,
    bots: Object.fromEntries(addMaps(new Map(Object.entries(one.bots)), new Map(Object.entries(other.bots)))),
    byLink: addMaps(one.byLink, other.byLink),
    failures: addMaps(one.failures, other.failures),
    worstMs: Math.max(one.worstMs, other.worstMs),
  }
}

function addMaps(one: Map<string, number>, other: Map<string, number>): Map<string, number> {
  const sum = new Map(one)
  for (const [name, count] of other) sum.set(name, (sum.get(name) ?? 0) + count)
  return sum
}
