import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildWorkspace } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { compareWithSums, countDecisions, countRows, drain } from './money/check.ts'
import { planSales, sendSales } from './money/load.ts'
import { buildSellers } from './money/program.ts'

const seconds = sized({ short: 20, full: 120 })
const perSecond = sized({ short: 100, full: 300 })
const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
type Victim = 'api' | 'worker' | 'postgres'
const victims: Victim[] = ['api', 'worker', 'postgres']

test('kill -9 of api, worker and PostgreSQL while sales arrive: each sale is decided once, and every sum is right', async () => {
  const engines = await startEngines()
  const environment = { ...inject('environment'), ...engines.urls, ENTERPRISE_REQUESTS_PER_MINUTE: '1000000' }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const start = (ROLES: string) => startServer({ ...environment, ROLES })
  const redirect = await start('redirect')
  const running = {
    api: [await start('api'), await start('api')],
    worker: [await start('worker'), await start('worker')],
  }
  const api = () => (running.api[randomInt(2)] as ServerProcess).api
  const kills: Victim[][] = []
  try {
    const workspace = await buildWorkspace(platform)
    const sellers = await buildSellers({ api: api(), redirect: redirect.redirect }, workspace)
    const sales = planSales(sellers, seconds * perSecond)
    const sending = sendSales(sales, perSecond, { api, key: workspace.key })
    const killing = killFor(seconds)
    const outcome = await sending
    await killing
    const drainedFrom = performance.now()
    await drain(platform, 120_000)
    const drainSeconds = (performance.now() - drainedFrom) / 1_000

    const rows = await countRows(platform)
    console.info({ kills: kills.map((names) => names.join('+')).join(' '), ...rows, drainSeconds, ...outcome })
    console.info(`${sales.length} sales in ${outcome.seconds} s: ${sales.length / outcome.seconds} a second`)
    expect(outcome.refusals).toEqual([])
    const refunds = sales.flatMap((sale) => sale.refunds).length
    const once = { sales: sales.length, refunds, undecided: 0, rewardedTwice: 0, clawbacks: 0 }
    expect(await countDecisions(platform)).toEqual(once)
    expect(rows).toMatchObject({ sales: sales.length, refunds })
    expect(await compareWithSums(api(), workspace.key, sellers, sales)).toEqual([])
    expect(await verify(environment)).toBe('')
    for (const victim of victims) expect(kills.flat(), victim).toContain(victim)
  } finally {
    await Promise.all([redirect, ...running.api, ...running.worker].map((server) => server.stop()))
    await engines.stop()
  }

  /** Kills each kind once, then random ones, sometimes two at the same moment. */
  async function killFor(seconds: number): Promise<void> {
    const endsAt = performance.now() + seconds * 1_000
    for (let round = 0; round < victims.length || performance.now() < endsAt; round++) {
      await sleep(randomInt(200, sized({ short: 3_000, full: 12_000 })))
      const first = victims[round < victims.length ? round : randomInt(victims.length)] as Victim
      const second = victims[randomInt(victims.length)] as Victim
      const names = first === second || randomInt(3) > 0 ? [first] : [first, second]
      kills.push(names)
      // PostgreSQL starts first, because a server needs it to start.
      const restarts = names
        .toSorted((one, other) => Number(other === 'postgres') - Number(one === 'postgres'))
        .map(kill)
      await sleep(randomInt(1_000))
      for (const restart of restarts) await restart()
    }
  }

  /** Kills one process of a kind; returns what starts it again. */
  function kill(name: Victim): () => Promise<void> {
    if (name === 'postgres') {
      engines.processes.postgres?.kill('SIGKILL')
      return async () => engines.processes.postgres?.restart()
    }
    const index = randomInt(2)
    running[name][index]?.kill('SIGKILL')
    return async () => {
      running[name][index] = await start(name)
    }
  }
}, 900_000)

/** Runs `tributary verify`; returns its output when it found a difference. */
function verify(environment: Record<string, string>): Promise<string> {
  return new Promise((resolve) => {
    const options = { env: { PATH: process.env.PATH, ENVIRONMENT: 'development', ...environment }, timeout: 300_000 }
    execFile(process.execPath, [main, 'verify'], options, (error, stdout, stderr) =>
      resolve(error ? stdout.slice(0, 4_000) + stderr.slice(-2_000) : ''),
    )
  })
}
