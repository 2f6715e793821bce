import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Engines, startEngines } from '../../../../engines/start.ts'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import { migrate } from '../../platform/migrate.ts'
import { openConnection, PoolBusyError } from '../../platform/postgres.ts'
import { openRedirectCache } from './cache.ts'
import { redirectMetrics } from './metrics.ts'

const engines: Engines<'postgres' | 'valkey'> = await startEngines({ only: ['postgres', 'valkey'] })
const platform = await openTestPlatform(engines.urls)
const opened = openRedirectCache(platform)
const cache = { find: async (domain: string, key: string) => (await opened.find(domain, key)).link }

beforeAll(() => migrate(platform.config, platform.clickhouse, () => {}))
afterEach(() => vi.useRealTimers())
afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await engines.stop()
})

async function someLink() {
  const { domain, id } = await buildLink(platform, await buildWorkspace(platform), { key: 'go' })
  return { domain, id }
}

/** Makes every cache entry in memory and in Valkey older. */
async function age(ms = 61_000): Promise<void> {
  await platform.valkey.flushall().catch(() => {})
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + ms)
}

async function count(on: Platform, from: string): Promise<number> {
  const { values } = await redirectMetrics(on).linkLookups.get()
  return values.find(({ labels }) => labels.from === from)?.value ?? 0
}

async function timed<T>(work: () => Promise<T> | T): Promise<{ result: T; ms: number }> {
  const started = performance.now()
  const result = await work()
  return { result, ms: performance.now() - started }
}

describe('without PostgreSQL', () => {
  test('a stale link is served, an unknown link fails, and both are correct after PostgreSQL recovers', async () => {
    const { domain, id } = await someLink()
    const missing = await someLink()
    await cache.find(domain, 'go')
    await engines.processes.postgres?.stop()
    await age()
    for (let visit = 0; visit < 3; visit++) {
      const { result, ms } = await timed(() => cache.find(domain, 'go'))
      expect(result).toMatchObject({ id })
      expect(ms).toBeLessThan(1_000)
    }
    await expect(cache.find(missing.domain, 'go')).rejects.toThrow()

    await engines.processes.postgres?.restart()
    await eventually(() => sql`UPDATE links SET url = 'https://example.com/new'`.execute(platform.db))
    expect(await cache.find(missing.domain, 'go')).toMatchObject({ url: 'https://example.com/new' })
    await age()
    await eventually(
      async () => expect(await cache.find(domain, 'go')).toMatchObject({ url: 'https://example.com/new' }),
      2_000,
    )
  })

  test('a cached link is served for more than a day, without waiting', async () => {
    const { domain, id } = await someLink()
    await cache.find(domain, 'go')
    await engines.processes.postgres?.stop()
    for (let half = 0; half < 60; half++) {
      await age(1_800_000)
      const { result, ms } = await timed(() => cache.find(domain, 'go'))
      expect(result).toMatchObject({ id })
      expect(ms).toBeLessThan(100)
    }
    await engines.processes.postgres?.restart()
  })

  test('a new process finds links that other processes cached in Valkey', async () => {
    const { domain, id } = await someLink()
    await cache.find(domain, 'go')
    await eventually(async () => expect(await platform.valkey.exists(`redirect:link:${domain}/go`)).toBe(1))
    await engines.processes.postgres?.stop()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    const fresh = openRedirectCache(platform)
    expect(await fresh.find(domain, 'go')).toMatchObject({ domain: { slug: domain }, link: { id } })
    await fresh[Symbol.asyncDispose]()
    await engines.processes.postgres?.restart()
  })

  test('a link that is cached as missing stays missing', async () => {
    const { domain } = await someLink()
    expect(await cache.find(domain, 'none')).toBeNull()
    await engines.processes.postgres?.stop()
    await age()
    expect(await cache.find(domain, 'none')).toBeNull()
    await engines.processes.postgres?.restart()
  })
})

describe('while PostgreSQL does not answer', () => {
  async function locked(work: () => Promise<void>): Promise<void> {
    const blocker = openConnection(platform.config)
    await blocker.connect()
    await blocker.query('BEGIN; LOCK TABLE links IN ACCESS EXCLUSIVE MODE')
    try {
      await work()
    } finally {
      await blocker.query('COMMIT')
      await blocker.end()
    }
  }

  test('a stale link is served at once', async () => {
    const { domain, id } = await someLink()
    await cache.find(domain, 'go')
    await age()
    await locked(async () => {
      const first = await timed(() => cache.find(domain, 'go'))
      expect(first.result).toMatchObject({ id })
      expect(first.ms).toBeLessThan(1_000)
      const next = await timed(() => cache.find(domain, 'go'))
      expect(next.result).toMatchObject({ id })
      expect(next.ms).toBeLessThan(100)
    })
  })

  test('an unknown link fails after five seconds like a busy server, so that the API returns 429 instead of 500', async () => {
    const { domain } = await someLink()
    await locked(async () => {
      const { result, ms } = await timed(() => cache.find(domain, 'go').catch((error: unknown) => error))
      expect(result).toBeInstanceOf(PoolBusyError)
      expect(ms).toBeLessThan(10_000)
    })
  })

  test('a link that changes while it is loaded is served but not cached', async () => {
    const { domain, id } = await someLink()
    const before = await count(platform, 'postgres')
    let found: ReturnType<typeof cache.find> | undefined
    await locked(async () => {
      found = cache.find(domain, 'go')
      await new Promise((resolve) => setTimeout(resolve, 50))
      const change = { workspaceId: '', linkNumber: '1', domain, lookupKey: 'go', isRoot: false, folderId: '' }
      const body = { ...change, tenantId: '', partnerId: '', tagIds: [], deleted: false, version: 1 }
      platform.nats.publish('changes.0.links', JSON.stringify(body))
      await platform.nats.flush()
    })
    expect(await found).toMatchObject({ id })
    expect(await platform.valkey.exists(`redirect:link:${domain}/go`)).toBe(0)
    await cache.find(domain, 'go')
    expect(await count(platform, 'postgres')).toBe(before + 2)
  })
})

describe('without Valkey', () => {
  test.each([
    ['stopped', () => engines.processes.valkey?.stop()],
    ['hanging', () => engines.processes.valkey?.kill('SIGSTOP')],
  ])('%s: links come from PostgreSQL and memory', async (_name, take) => {
    const { domain, id } = await someLink()
    await take()
    const before = await count(platform, 'postgres')
    const { result, ms } = await timed(() => cache.find(domain, 'go'))
    expect(result).toMatchObject({ id })
    expect(ms).toBeLessThan(1_000)
    expect(await cache.find(domain, 'none')).toBeNull()
    expect(await count(platform, 'postgres')).toBe(before + 2)
    expect(await cache.find(domain, 'go')).toMatchObject({ id })
    expect(await count(platform, 'postgres')).toBe(before + 2)
    engines.processes.valkey?.kill('SIGCONT')
    await engines.processes.valkey?.restart()
    await eventually(() => platform.valkey.ping())
  })
})
