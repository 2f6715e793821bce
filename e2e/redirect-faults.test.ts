import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, inject, test } from 'vitest'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { browser, buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const perSecond = 500
const everyMs = 20

test('cached links redirect without Valkey, PostgreSQL or both: none of 500 visits per second fails', async () => {
  const engines = await startEngines({ only: ['postgres', 'nats', 'valkey'] })
  const folder = await mkdtemp(join(tmpdir(), 'tributary-faults-'))
  const environment = { ...inject('environment'), ...engines.urls, SPOOL_DIRECTORY: folder }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const front = await startServer({ ...environment, ROLES: 'redirect' })
  const { postgres, nats, valkey } = engines.processes
  try {
    const workspace = await buildWorkspace(platform)
    const keys = Array.from({ length: 25 }, (_, number) => `known-${number}`)
    for (const key of keys) await buildLink(platform, workspace, { key })
    const open = (key: string, visitor = 0) => {
      const headers = { host: workspace.domain, 'user-agent': `${browser} ${visitor}` }
      return visit(`${front.redirect}/${key}`, headers).then(({ status }) => status, String)
    }
    for (const key of keys) expect(await open(key)).toBe(302)

    const load = keepOpening((visitor) => open(keys[visitor % keys.length] as string, visitor))
    await sleep(1_000)
    // Valkey is down from 1 s to 31 s, PostgreSQL from 16 s to 46 s.
    await valkey?.stop()
    await sleep(15_000)
    await postgres?.stop()
    await sleep(4_000)
    // A process that may have missed changes can't trust its cache: from now on every cached link is stale.
    await nats?.restart()
    await sleep(11_000)
    expect(await open('unknown')).toBe(503)
    await valkey?.restart()
    await sleep(15_000)
    await postgres?.restart()
    await sleep(3_000)
    const { answers, milliseconds } = await load.stop()

    console.info(`${[...answers.values()].reduce((sum, count) => sum + count, 0)} redirects, ${summary(milliseconds)}`)
    expect([...answers.keys()]).toEqual([302])
    expect(answers.get(302)).toBeGreaterThan(perSecond * 45)
    expect(await lookupsFrom('aged', front.ops)).toBeGreaterThan(1_000)
    expect(await open('unknown')).toBe(404)
  } finally {
    await front.stop()
    await engines.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

/** Visits links at a constant rate, however long responses take. */
function keepOpening(open: (visitor: number) => Promise<number | string>) {
  const answers = new Map<number | string, number>()
  const milliseconds: number[] = []
  const running = new Set<Promise<void>>()
  const started = performance.now()
  let count = 0
  const timer = setInterval(() => {
    while (count < ((performance.now() - started) / 1_000) * perSecond) start(count++)
  }, everyMs)

  function start(visitor: number): void {
    const since = performance.now()
    const visiting = open(visitor).then((answer) => {
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      milliseconds.push(performance.now() - since)
      running.delete(visiting)
    })
    running.add(visiting)
  }

  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
      return { answers, milliseconds }
    },
  }
}

function summary(milliseconds: number[]): string {
  const sorted = milliseconds.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`
}

async function lookupsFrom(source: string, ops: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  return Number(text.match(new RegExp(`tributary_link_lookups_total\\{from="${source}".* (\\d+)`))?.[1] ?? 0)
}
