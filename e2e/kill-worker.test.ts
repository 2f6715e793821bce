import { createClient } from '@tributary/contract/client'
import { listEvents } from '@tributary/contract/events'
import { listLinks } from '@tributary/contract/links'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildLink, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const clicks = sized({ short: 2_000, full: 10_000 })
const connections = 32

test('kill -9 of the worker during 10,000 clicks neither loses nor duplicates a click', async () => {
  const engines = await startEngines({ only: ['nats', 'valkey', 'clickhouse'] })
  const database = await createDatabase(inject('environment').POSTGRES_URL as string, `kill_${Date.now()}`)
  const environment = {
    ...inject('environment'),
    ...engines.urls,
    POSTGRES_URL: database,
    INGEST_BATCH_BYTES: '100000',
  }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const front = await startServer({ ...environment, ROLES: 'api,redirect' })
  let worker = await startServer({ ...environment, ROLES: 'worker' })
  try {
    const workspace = await buildWorkspace(platform)
    const links = await Promise.all([1, 2, 3, 4, 5].map((n) => buildLink(platform, workspace, { key: `kill-${n}` })))
    const killings = killRepeatedly()
    const answered = await openMany(
      front.redirect,
      workspace.domain,
      links.map((link) => link.key),
    )
    await killings.done
    expect(answered).toBe(clicks)
    expect(killings.count()).toBeGreaterThanOrEqual(3)

    const call = createClient({ url: front.api, token: workspace.key })
    await eventually(async () => {
      const counted = await call(listLinks)
      expect(counted.reduce((sum, link) => sum + link.clicks, 0)).toBe(clicks)
    }, 60_000)
    const seen = new Map<string, string>()
    for (let page = 1; ; page++) {
      const events = await call(listEvents, { query: { page, limit: 1000, sortOrder: 'asc' } })
      for (const event of events) {
        expect(seen.has(event.click_id), `${event.click_id} is listed twice`).toBe(false)
        seen.set(event.click_id, event.link_id)
      }
      if (events.length < 1000) break
    }
    expect(seen.size).toBe(clicks)
    for (const link of await call(listLinks)) {
      expect(link.clicks, link.key).toBe([...seen.values()].filter((id) => id === link.id).length)
    }
  } finally {
    await worker.stop()
    await front.stop()
    await engines.stop()
  }

  function killRepeatedly() {
    let count = 0
    const kill = async () => {
      for (const afterMs of [400, 700, 300]) {
        await new Promise((resolve) => setTimeout(resolve, afterMs))
        worker.kill('SIGKILL')
        count += 1
        worker = await startServer({ ...environment, ROLES: 'worker' })
      }
    }
    return { done: kill(), count: () => count }
  }
})

/** Visits the links as that many different visitors; returns how many were redirected. */
async function openMany(redirect: string, host: string, keys: string[]): Promise<number> {
  let next = 0
  let answered = 0
  async function openSome(): Promise<void> {
    while (next < clicks) {
      const visitor = next++
      const userAgent = `Mozilla/5.0 (X11; Linux) Firefox/${visitor}.0`
      const { status } = await visit(`${redirect}/${keys[visitor % keys.length]}`, { host, 'user-agent': userAgent })
      if (status === 302) answered += 1
      // Spread over some seconds, so that the kills happen in between.
      if (visitor % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 60))
    }
  }
  await Promise.all(Array.from({ length: connections }, openSome))
  return answered
}
