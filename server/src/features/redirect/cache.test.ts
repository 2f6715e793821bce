import { sql } from 'kysely'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { buildLink, buildWorkspace } from '../../../test/build.ts'
import { buildUnpublishedLink } from '../../../test/redirect/unpublished-link.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import type { DomainChanged } from '../domains/messages.ts'
import { addDomain } from '../domains/service.ts'
import { openRedirectCache, type RedirectCache } from './cache.ts'
import { redirectMetrics } from './metrics.ts'

const platform = await openTestPlatform()
const otherPlatform = await openTestPlatform()
const opened: RedirectCache[] = []

function openCache(on: Platform) {
  const cache = openRedirectCache(on)
  opened.push(cache)
  return {
    find: async (domain: string, key: string) => (await cache.find(domain, key)).link,
    domain: async (domain: string) => (await cache.find(domain, null)).domain,
    both: (domain: string, key: string) => cache.find(domain, key),
  }
}

/** Counts of link lookups by source since the last call. */
async function lookups(on: Platform): Promise<Record<string, number>> {
  const { values } = await redirectMetrics(on).linkLookups.get()
  redirectMetrics(on).linkLookups.reset()
  return Object.fromEntries(values.map(({ labels, value }) => [labels.from, value]))
}

const valkeyName = (domain: string, key: string) => `redirect:link:${domain}/${key}`

async function someLink() {
  const { link, workspace } = await buildUnpublishedLink(platform, { key: 'go' })
  await lookups(platform)
  await lookups(otherPlatform)
  return { domain: link.domain, id: link.id, name: valkeyName(link.domain, 'go'), workspace }
}

function point(id: string, url: string) {
  return sql`UPDATE links SET url = ${url} WHERE id = ${id}`.execute(platform.db)
}

function passTime(ms: number): void {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + ms)
}

afterEach(async () => {
  vi.useRealTimers()
  for (const cache of opened.splice(0)) await cache[Symbol.asyncDispose]()
})

describe('a link lookup', () => {
  test('reads PostgreSQL the first time, and memory from then on', async () => {
    const { domain, id } = await someLink()
    const cache = openCache(platform)
    for (let visit = 0; visit < 3; visit++) {
      expect(await cache.find(domain, 'go')).toMatchObject({ id, url: 'https://example.com/landing' })
    }
    expect(await lookups(platform)).toEqual({ postgres: 1, memory: 2 })
  })

  test('reads Valkey when another process has loaded the link before', async () => {
    const { domain, name } = await someLink()
    const [cache, other] = [openCache(platform), openCache(otherPlatform)]
    const link = await cache.find(domain, 'go')
    await eventually(async () => expect(await platform.valkey.exists(name)).toBe(1))
    expect(await other.find(domain, 'go')).toEqual(link)
    expect(await lookups(otherPlatform)).toEqual({ valkey: 1 })
  })

  test('ignores a Valkey entry that was written before this process subscribed to changes', async () => {
    const { domain, id, name } = await someLink()
    await openCache(platform).find(domain, 'go')
    await eventually(async () => expect(await platform.valkey.exists(name)).toBe(1))
    await point(id, 'https://example.com/new')
    await new Promise((resolve) => setTimeout(resolve, 2))
    expect(await openCache(otherPlatform).find(domain, 'go')).toMatchObject({ url: 'https://example.com/new' })
    expect(await lookups(otherPlatform)).toEqual({ postgres: 1 })
  })

  test('caches a missing link too', async () => {
    const { domain } = await someLink()
    const [cache, other] = [openCache(platform), openCache(otherPlatform)]
    expect(await cache.find(domain, 'none')).toBeNull()
    expect(await cache.find(domain, 'none')).toBeNull()
    expect(await lookups(platform)).toEqual({ postgres: 1, memory: 1 })
    await eventually(async () => expect(await platform.valkey.exists(valkeyName(domain, 'none'))).toBe(1))
    expect(await other.find(domain, 'none')).toBeNull()
    expect(await lookups(otherPlatform)).toEqual({ valkey: 1 })
  })

  test('loads a link once for a hundred concurrent visitors', async () => {
    const { domain, id } = await someLink()
    const cache = openCache(platform)
    const found = await Promise.all(Array.from({ length: 100 }, () => cache.find(domain, 'go')))
    for (const link of found) expect(link).toMatchObject({ id })
    expect(await lookups(platform)).toEqual({ postgres: 1 })
  })

  test('matches the exact domain and key only', async () => {
    const [ours, theirs] = [await someLink(), await someLink()]
    const cache = openCache(platform)
    const [our, their] = [await cache.find(ours.domain, 'go'), await cache.find(theirs.domain, 'go')]
    expect([our?.id, their?.id]).toEqual([ours.id, theirs.id])
  })
})

describe('a change', () => {
  test('reaches every process within a second: a link created after a miss is found', async () => {
    const { domain, workspace } = await someLink()
    const caches = [openCache(platform), openCache(otherPlatform)]
    for (const cache of caches) expect(await cache.find(domain, 'new')).toBeNull()
    const { id } = await buildLink(platform, workspace, { key: 'New' })
    await eventually(async () => {
      for (const cache of caches) expect(await cache.find(domain, 'new')).toMatchObject({ id })
    }, 1_000)
  })

  test('is not undone by a process that receives the change later and still caches the old link', async () => {
    const { domain, id, name } = await someLink()
    const cache = openCache(platform)
    const old = await cache.find(domain, 'go')
    await point(id, 'https://example.com/new')
    await publishChange(platform, domain, 'go')
    await platform.valkey.set(name, JSON.stringify(old))
    await cache.find(domain, 'go')
    await platform.valkey.del(name)
    await eventually(
      async () => expect(await cache.find(domain, 'go')).toMatchObject({ url: 'https://example.com/new' }),
      1_000,
    )
  })

  test("of a link's key invalidates the former key too", async () => {
    const { domain, id } = await someLink()
    const cache = openCache(platform)
    expect([await cache.find(domain, 'go')?.then((link) => link?.id), await cache.find(domain, 'moved')]).toEqual([
      id,
      null,
    ])
    await sql`UPDATE links SET key = 'moved', lookup_key = 'moved' WHERE id = ${id}`.execute(platform.db)
    await publishChange(platform, domain, 'moved', { domain, lookupKey: 'go' })
    expect(await cache.find(domain, 'go')).toBeNull()
    expect(await cache.find(domain, 'moved')).toMatchObject({ id })
  })

  test('of a link leaves other links cached in memory', async () => {
    const [changed, other] = [await someLink(), await someLink()]
    const cache = openCache(platform)
    await cache.find(changed.domain, 'go')
    await cache.find(other.domain, 'go')
    await publishChange(platform, changed.domain, 'go')
    await lookups(platform)
    await cache.find(other.domain, 'go')
    expect(await lookups(platform)).toEqual({ memory: 1 })
  })

  test("message that can't be parsed is ignored", async () => {
    const { domain } = await someLink()
    const cache = openCache(platform)
    await cache.find(domain, 'go')
    for (const body of ['', 'no json', '{}', 'null']) platform.nats.publish('changes.0.links', body)
    await publishChange(platform, domain, 'go')
    await lookups(platform)
    await cache.find(domain, 'go')
    expect((await lookups(platform)).memory).toBeUndefined()
  })
})

describe('the lifetime of an entry, in case a change message is lost', () => {
  test('ends after a minute, however often the entry is read', async () => {
    const { domain, id, name } = await someLink()
    const cache = openCache(platform)
    await cache.find(domain, 'go')
    await eventually(async () => expect(await platform.valkey.del(name)).toBe(1))
    await point(id, 'https://example.com/new')
    for (let second = 0; second < 59; second++) {
      passTime(1_000)
      expect(await cache.find(domain, 'go')).toMatchObject({ url: 'https://example.com/landing' })
    }
    passTime(1_100)
    expect(await cache.find(domain, 'go')).toMatchObject({ url: 'https://example.com/new' })
  })

  test('ends after ten seconds for a missing link', async () => {
    const { domain, workspace } = await someLink()
    const cache = openCache(platform)
    expect(await cache.find(domain, 'late')).toBeNull()
    await eventually(async () => expect(await platform.valkey.del(valkeyName(domain, 'late'))).toBe(1))
    await sql`UPDATE links SET lookup_key = 'late' WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    passTime(9_000)
    expect(await cache.find(domain, 'late')).toBeNull()
    passTime(1_100)
    expect(await cache.find(domain, 'late')).not.toBeNull()
  })

  test('is not extended by a process that reads the entry from Valkey', async () => {
    const { domain, id, name } = await someLink()
    const [cache, other] = [openCache(platform), openCache(otherPlatform)]
    await cache.find(domain, 'go')
    await eventually(async () => expect(await platform.valkey.exists(name)).toBe(1))
    await point(id, 'https://example.com/new')
    const stored = await platform.valkey.get(name)
    passTime(50_000)
    expect(await other.find(domain, 'go')).toMatchObject({ url: 'https://example.com/landing' })
    expect(await platform.valkey.get(name)).toBe(stored)
    passTime(9_000)
    expect(await other.find(domain, 'go')).toMatchObject({ url: 'https://example.com/landing' })
    expect(await lookups(otherPlatform)).toEqual({ valkey: 1, memory: 1 })
    passTime(1_100)
    expect(await other.find(domain, 'go')).toMatchObject({ url: 'https://example.com/new' })
  })

  test('is more than a day in Valkey, for a process that starts without PostgreSQL', async () => {
    const { domain, name } = await someLink()
    const cache = openCache(platform)
    await Promise.all([cache.find(domain, 'go'), cache.find(domain, 'none')])
    await eventually(async () => expect(await platform.valkey.pttl(name)).toBeGreaterThan(24 * 3_600_000))
    await eventually(async () => expect(await platform.valkey.pttl(valkeyName(domain, 'none'))).toBeGreaterThan(0))
    expect(await platform.valkey.pttl(valkeyName(domain, 'none'))).toBeLessThanOrEqual(10_000)
  })
})

describe('the domain', () => {
  test('is found with the link, and cached separately', async () => {
    const { domain, id } = await someLink()
    const cache = openCache(platform)
    expect(await cache.both(domain, 'go')).toMatchObject({ domain: { slug: domain, notFoundUrl: null }, link: { id } })
    // The change message of the new link may arrive after the first lookup, and evicts it then.
    await eventually(async () => {
      const found = cache.both(domain, 'go')
      await found
      expect(found).not.toBeInstanceOf(Promise)
    })
    expect(await cache.both(domain, 'none')).toMatchObject({ domain: { slug: domain }, link: null })
    expect(await cache.both('nobody.example', 'go')).toEqual({ domain: null, link: null })
  })

  test('changes in every process within a second', async () => {
    const { domain, workspace } = await someLink()
    const caches = [openCache(platform), openCache(otherPlatform)]
    for (const cache of caches) expect(await cache.domain(domain)).toMatchObject({ notFoundUrl: null })
    await sql`UPDATE domains SET not_found_url = 'https://example.com/' WHERE slug = ${domain}`.execute(platform.db)
    await publishDomainChange({ workspaceId: workspace.id, slug: domain, deleted: false })
    for (const cache of caches) {
      await eventually(
        async () => expect(await cache.domain(domain)).toMatchObject({ notFoundUrl: 'https://example.com/' }),
        1_000,
      )
    }
  })

  test('that is deleted or changes owner serves none of its former links', async () => {
    const { domain, id, name, workspace } = await someLink()
    const cache = openCache(platform)
    expect(await cache.find(domain, 'go')).toMatchObject({ id })
    await eventually(async () => expect(await platform.valkey.exists(name)).toBe(1))
    await sql`DELETE FROM domains WHERE slug = ${domain}`.execute(platform.db)
    await publishDomainChange({ workspaceId: workspace.id, slug: domain, deleted: true })
    expect(await cache.both(domain, 'go')).toEqual({ domain: null, link: null })

    await sql`UPDATE links SET deleted_at = now() WHERE id = ${id}`.execute(platform.db)
    const taker = await buildWorkspace(platform)
    await addDomain(platform, { workspaceId: taker.id, slug: domain })
    await publishDomainChange({ workspaceId: taker.id, slug: domain, deleted: false })
    expect(await cache.both(domain, 'go')).toMatchObject({ domain: { slug: domain }, link: null })
  })

  test('that is renamed is invalidated under both names', async () => {
    const { domain, workspace } = await someLink()
    const cache = openCache(platform)
    const renamed = `new-${domain}`
    expect([await cache.domain(domain), await cache.domain(renamed)]).toMatchObject([{ slug: domain }, null])
    await sql`UPDATE domains SET slug = ${renamed} WHERE slug = ${domain}`.execute(platform.db)
    await publishDomainChange({ workspaceId: workspace.id, slug: domain, deleted: false, renamedTo: renamed })
    expect([await cache.domain(domain), await cache.domain(renamed)]).toMatchObject([null, { slug: renamed }])
  })
})

async function publishDomainChange(change: DomainChanged): Promise<void> {
  platform.nats.publish('changes.0.domains', JSON.stringify(change))
  await platform.nats.flush()
}

/** Publishes a change message like the outbox relay, and waits until every cache of this process has received it. */
async function publishChange(on: Platform, domain: string, lookupKey: string, former?: object): Promise<void> {
  const change = {
    former,
    workspaceId: '',
    linkNumber: '1',
    domain,
    lookupKey,
    isRoot: false,
    folderId: '',
    tenantId: '',
  }
  const body = { ...change, partnerId: '', tagIds: [], deleted: false, version: 1 }
  on.nats.publish('changes.0.links', JSON.stringify(body))
  await on.nats.flush()
}
