import { afterEach, describe, expect, inject, test, vi } from 'vitest'
import { freePort } from '../../../../engines/port.ts'
import { buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { newId } from '../../platform/ids.ts'
import { type Db, openPostgres } from '../../platform/postgres.ts'
import { createDomain } from './add.ts'
import { deleteDomain, updateDomain } from './change.ts'
import { domainChangedSubject } from './messages.ts'
import { addDomain } from './service.ts'
import { openTlsHosts, type TlsHosts } from './tls-hosts.ts'

const platform = await openTestPlatform()
const { ops } = inject('server')
const opened: TlsHosts[] = []
const newName = () => `${newId('dom').slice(-12)}.example.com`

/** Counts the statements that are sent to PostgreSQL. */
function open(db: Db = platform.db) {
  let statements = 0
  const counting = db.withPlugin({
    transformQuery({ node }) {
      statements++
      return node
    },
    transformResult: async ({ result }) => result,
  })
  const hosts = openTlsHosts({ ...platform, db: counting })
  opened.push(hosts)
  return { allows: async (host: string) => hosts.allows(host), statements: () => statements }
}

async function someDomain() {
  const workspace = await buildWorkspace(platform)
  const { slug } = await addDomain(platform, { workspaceId: workspace.id, slug: newName() })
  return { ctx: contextIn(platform, workspace.id), slug }
}

/** A domain for which a TLS certificate was allowed before, and whose creation every process knows. */
async function knownDomain() {
  const changes = platform.nats.subscribe(domainChangedSubject)
  const domain = await someDomain()
  for await (const message of changes) if (message.string().includes(domain.slug)) break
  const hosts = openTlsHosts(platform)
  opened.push(hosts)
  expect(await hosts.allows(domain.slug)).toBe(true)
  return domain
}

function passTime(ms: number): void {
  if (!vi.isFakeTimers()) vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(Date.now() + ms)
}

afterEach(async () => {
  vi.useRealTimers()
  for (const hosts of opened.splice(0)) await hosts[Symbol.asyncDispose]()
})

describe('a certificate', () => {
  test('is allowed for a verified domain and for the shared domain', async () => {
    const { slug } = await knownDomain()
    const { allows } = open()
    expect(await allows(slug)).toBe(true)
    expect(await allows(slug.toUpperCase())).toBe(true)
    expect(await allows(platform.config.SHORT_DOMAIN)).toBe(true)
  })

  test('is refused for any other host name', async () => {
    const { slug, ctx } = await knownDomain()
    const unverified = await createDomain(ctx, { slug: newName() })
    await updateDomain(ctx, slug, { archived: true })
    const { allows } = open()
    const others = [
      '',
      slug,
      unverified.slug,
      newName(),
      `www.${slug}`,
      `${slug}.`,
      `*.${slug}`,
      slug.slice(1),
      '127.0.0.1',
    ]
    for (const host of others) expect(await allows(host), host).toBe(false)
  })

  test('is allowed or refused on the private port, with 200 or 404', async () => {
    const { slug } = await knownDomain()
    const ask = async (query: string) => (await fetch(`${ops}/internal/tls-allowed${query}`)).status
    expect(await ask(`?domain=${slug}`)).toBe(200)
    expect(await ask(`?domain=${platform.config.SHORT_DOMAIN}`)).toBe(200)
    for (const query of ['', '?', '?domain=', `?domain=x.${slug}`, '?domain=%00', '?domain=%', `?host=${slug}`]) {
      expect(await ask(query), query).toBe(404)
    }
    expect((await fetch(`${ops}/internal/other`)).status).toBe(404)
  })

  test('check is not available on the public ports', async () => {
    const { slug } = await knownDomain()
    const { api, redirect } = inject('server')
    for (const door of [api, redirect]) {
      const { status } = await fetch(`${door}/internal/tls-allowed?domain=${slug}`)
      expect(status).not.toBe(200)
    }
  })
})

describe('an answer is cached', () => {
  test('for an unknown host name too, and shared by concurrent requests', async () => {
    const { slug } = await knownDomain()
    const unknown = newName()
    const { allows, statements } = open()
    await Promise.all(Array.from({ length: 100 }, () => Promise.all([allows(slug), allows(unknown)])))
    for (let turn = 0; turn < 100; turn++) {
      expect(await allows(slug)).toBe(true)
      expect(await allows(unknown)).toBe(false)
    }
    expect(statements()).toBe(2)
  })

  test('without a lookup of invalid host names', async () => {
    const { allows, statements } = open()
    for (const host of ['', 'a b', '*.example.com', 'x'.repeat(5_000), '\0', 'a..b'])
      expect(await allows(host)).toBe(false)
    expect(statements()).toBe(0)
  })

  test('for 30 s when the host is allowed, for 5 s when it is refused, however often it is read', async () => {
    const { slug } = await knownDomain()
    const unknown = newName()
    const { allows, statements } = open()
    for (let second = 0; second < 30; second++) {
      await allows(slug)
      passTime(999)
    }
    expect(statements()).toBe(1)
    passTime(31)
    await allows(slug)
    expect(statements()).toBe(2)
    await allows(unknown)
    passTime(4_900)
    await allows(unknown)
    expect(statements()).toBe(3)
    passTime(101)
    await allows(unknown)
    expect(statements()).toBe(4)
  })

  test('until the domain changes, which applies within a second', async () => {
    const { slug, ctx } = await knownDomain()
    const name = newName()
    const { allows } = open()
    expect([await allows(slug), await allows(name)]).toEqual([true, false])
    await addDomain(platform, { workspaceId: ctx.workspaceId, slug: name })
    await updateDomain(ctx, slug, { archived: true })
    await eventually(async () => expect([await allows(slug), await allows(name)]).toEqual([false, true]), 1_000)
    await updateDomain(ctx, slug, { archived: false })
    await deleteDomain(ctx, name)
    await eventually(async () => expect([await allows(slug), await allows(name)]).toEqual([true, false]), 1_000)
  })

  test('until the domain changes, even after malformed change messages', async () => {
    const { slug, ctx } = await knownDomain()
    const { allows } = open()
    expect(await allows(slug)).toBe(true)
    for (const body of ['', 'no json', '{}', 'null']) platform.nats.publish('changes.0.domains', body)
    await deleteDomain(ctx, slug)
    await eventually(async () => expect(await allows(slug)).toBe(false), 1_000)
  })
})

test('many requests for unknown hosts evict no allowed host, and their lookups are limited', async () => {
  const { slug } = await knownDomain()
  const { allows, statements } = open()
  await allows(slug)
  const flood = await Promise.allSettled(Array.from({ length: 5_000 }, (_, index) => allows(`x${index}.${slug}`)))
  const refused = flood.filter((outcome) => outcome.status === 'rejected')
  expect(refused.length).toBeGreaterThan(4_900)
  const before = statements()
  expect(await allows(slug)).toBe(true)
  expect(statements()).toBe(before)
})

test('while PostgreSQL is down, known hosts stay allowed, and lookups of other hosts fail', async () => {
  const { slug } = await knownDomain()
  const unreachable = openPostgres(
    { ...platform.config, POSTGRES_URL: `postgres://x@127.0.0.1:${await freePort()}/x` },
    'serving',
  )
  let current: Db = platform.db
  const switching = new Proxy(platform.db, {
    get: (_, name) => {
      const value = Reflect.get(current, name)
      return typeof value === 'function' ? value.bind(current) : value
    },
  })
  const hosts = openTlsHosts({ ...platform, db: switching })
  opened.push(hosts)
  expect(await hosts.allows(slug)).toBe(true)
  current = unreachable
  passTime(120_000)
  expect(await hosts.allows(slug)).toBe(true)
  await expect(hosts.allows(newName())).rejects.toThrow('ECONNREFUSED')
  await unreachable.destroy()
})

test('a cached answer takes far less than a millisecond', async () => {
  const { slug } = await knownDomain()
  const hosts = openTlsHosts(platform)
  opened.push(hosts)
  const unknown = newName()
  expect([await hosts.allows(slug), await hosts.allows(unknown)]).toEqual([true, false])
  const rounds = 20_000
  const started = performance.now()
  for (let round = 0; round < rounds; round++) {
    if (hosts.allows(slug) !== true || hosts.allows(unknown) !== false) throw new Error('not from the cache')
  }
  expect((performance.now() - started) / rounds).toBeLessThan(0.1)
})

describe('new certificate hosts of a workspace in a day', () => {
  const limited = { ...platform, config: { ...platform.config, CERTIFICATES_PER_WORKSPACE_PER_DAY: 2 } }

  function openLimited() {
    const hosts = openTlsHosts(limited)
    opened.push(hosts)
    return hosts
  }

  test('are limited by the setting; known hosts and other workspaces are not affected', async () => {
    const { ctx, slug } = await someDomain()
    const names = [slug]
    for (let count = 0; count < 3; count++) {
      names.push((await addDomain(platform, { workspaceId: ctx.workspaceId, slug: newName() })).slug)
    }
    const hosts = openLimited()
    const allowed: boolean[] = []
    for (const name of names) allowed.push(await hosts.allows(name))
    expect(allowed).toEqual([true, true, false, false])
    const fresh = openLimited()
    expect(await Promise.all(names.map((name) => fresh.allows(name)))).toEqual(allowed)
    expect(await fresh.allows((await someDomain()).slug)).toBe(true)
  })

  test('stay limited when domains are deleted', async () => {
    const { ctx, slug } = await someDomain()
    const hosts = openLimited()
    expect(await hosts.allows(slug)).toBe(true)
    await deleteDomain(ctx, slug)
    const more = async () => (await addDomain(platform, { workspaceId: ctx.workspaceId, slug: newName() })).slug
    expect(await hosts.allows(await more())).toBe(true)
    expect(await hosts.allows(await more())).toBe(false)
  })
})
