import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import { openMetrics } from '../../platform/metrics.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import type { Decision } from './decide.ts'
import { openAddressLimit, openRecentClicks } from './limit.ts'
import type { RawClick } from './messages.ts'
import { redirectMetrics } from './metrics.ts'
import { openRedirect, type Redirect, type Visit } from './service.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function heapUsed(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const engines = await startEngines({ only: ['nats'] })
afterAll(() => engines.stop())
const shared = await openTestPlatform({
  ...engines.urls,
  EVENT_PARTITIONS: '1',
  CLICKS_PER_ADDRESS_PER_SECOND: '1',
})
const manager = await jetstreamManager(shared.nats)

describe('the click limit of a client address', () => {
  const second = 1_000
  const start = 1_000_000

  test('allows a burst of 20 seconds, then the sustained rate', () => {
    const take = openAddressLimit(50)
    const taken = (count: number, at: number) =>
      Array.from({ length: count }, () => take('203.0.113.9', at)).filter(Boolean).length
    expect(taken(1_500, start)).toBe(1_000)
    expect(taken(200, start + second)).toBe(50)
    expect(taken(200, start + 2 * second)).toBe(50)
    expect(taken(2_000, start + 60 * second)).toBe(1_000)
  })

  test('is shared by an IPv6 /56, and separate for each IPv4 address', () => {
    const take = openAddressLimit(1)
    for (let host = 0; host < 20; host++) expect(take(`2001:db8:1:${host}::1`, start)).toBe(true)
    expect(take('2001:db8:1:ff::2', start)).toBe(false)
    expect(take('2001:db8:1:100::2', start)).toBe(true)
    for (let host = 0; host < 100; host++) expect(take(`203.0.113.${host}`, start)).toBe(true)
  })

  test.each(['127.0.0.1', '10.1.2.3', '192.168.0.1', '172.17.0.1', '100.64.0.1', '::1', 'fd00::1', 'fe80::1', ''])(
    'does not apply to %j, which is not a public address',
    (ip) => {
      const take = openAddressLimit(1)
      for (let count = 0; count < 100; count++) expect(take(ip, start)).toBe(true)
    },
  )

  test('uses memory for a bounded number of addresses', () => {
    const take = openAddressLimit(50)
    const before = heapUsed()
    for (let host = 0; host < 400_000; host++)
      take(`${20 + (host >> 16)}.${(host >> 8) & 255}.1.${host & 255}`, start + host / 1_000)
    expect(heapUsed() - before).toBeLessThan(20_000_000)
    expect(take('203.0.113.1', start)).toBe(true)
  })
})

test('ids of stored clicks are remembered while they are repeated, and forgotten after five minutes', () => {
  const recent = openRecentClicks()
  recent.add('a', 0)
  recent.add('b', 0)
  expect(recent.has('a', 140_000)).toBe(true)
  expect(recent.has('a', 280_000)).toBe(true)
  expect(recent.has('a', 450_000)).toBe(true)
  expect(recent.has('b', 450_000)).toBe(false)
  for (let count = 0; count < 70_000; count++) recent.add(`${count}`, 450_000)
  expect(recent.has('a', 450_000)).toBe(false)
})

describe('the log', () => {
  let platform: Platform
  let redirect: Redirect
  let link: { domain: string; key: string }
  let folder: string

  const open = (given: Partial<Visit> = {}) =>
    new Promise<Decision>((resolve, reject) => {
      const location = { country: '', region: '', city: '', continent: '' }
      const visitor = { ip: '203.0.113.7', userAgent: browser, referer: '', purpose: '', location }
      const visit = { ...visitor, domain: link.domain, path: link.key, method: 'GET', query: '', ...given }
      redirect.visit(visit, resolve)?.catch(reject)
    })

  async function logged(): Promise<{ bytes: number; clicks: RawClick[] }> {
    const { state } = await manager.streams.info(eventStream(0))
    const clicks: RawClick[] = []
    if (state.messages === 0) return { bytes: 0, clicks }
    const consumer = await jetStream(platform.nats).consumers.get(eventStream(0))
    for await (const message of await consumer.fetch({ max_messages: state.messages, expires: 2_000 }))
      clicks.push(...message.json<RawClick[]>())
    return { bytes: state.bytes, clicks }
  }

  async function notLogged(): Promise<Record<string, number>> {
    const { values } = await redirectMetrics(platform).clicksNotLogged.get()
    return Object.fromEntries(values.map(({ labels, value }) => [labels.reason, value]))
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tributary-limit-'))
    platform = { ...shared, metrics: openMetrics(), config: { ...shared.config, SPOOL_DIRECTORY: folder } }
    await ensureStreams(platform.nats, platform.config)
    await manager.streams.purge(eventStream(0))
    redirect = await openRedirect(platform)
    link = await buildLink(platform, await buildWorkspace(platform), { trackConversion: true })
    return async () => {
      await redirect[Symbol.asyncDispose]()
      await rm(folder, { recursive: true, force: true })
    }
  })

  test('gets one click of 3,000 identical requests with a query of 14.5 kB, and all of them are redirected', async () => {
    const query = `q=${'x'.repeat(14_500)}`
    const first = await open({ query })
    for (let count = 1; count < 3_000; count++)
      expect(await open({ query })).toMatchObject({ location: first.location })
    expect(first.location).toContain(query)
    const { bytes, clicks } = await logged()
    expect(clicks).toHaveLength(1)
    expect(bytes).toBeLessThan(2_000)
    expect(await notLogged()).toEqual({ repeat: 2_999 })
  })

  test('gets the visit after a prefetch of the same visitor', async () => {
    for (let count = 0; count < 3; count++) await open({ purpose: 'prefetch' })
    for (let count = 0; count < 3; count++) await open()
    expect((await logged()).clicks.map(({ bot }) => bot)).toEqual(['prefetch', ''])
  })

  test('gets a repeated visit when the previous one could not be stored', async () => {
    const full = { ...platform, config: { ...platform.config, SPOOL_DIRECTORY: join(folder, 'none') } }
    await redirect[Symbol.asyncDispose]()
    redirect = await openRedirect(full)
    await rm(join(folder, 'none'), { recursive: true })
    const { config } = await manager.streams.info(eventStream(0))
    await manager.streams.delete(eventStream(0))
    await open()
    expect((await redirectMetrics(platform).clicksLost.get()).values[0]?.value).toBe(1)
    await manager.streams.add(config)
    await open()
    expect((await logged()).clicks).toHaveLength(1)
  })

  test('gets no click above the limit of an address, and the visitor is redirected without a click id', async () => {
    const visits = await Promise.all(
      Array.from({ length: 30 }, (_, count) => open({ userAgent: `${browser} ${count}` })),
    )
    expect(visits.every(({ status }) => status === 302)).toBe(true)
    const attributed = visits.filter(({ location }) => location?.includes('trib_id='))
    expect(attributed.length).toBeGreaterThanOrEqual(20)
    expect(attributed.length).toBeLessThan(25)
    expect((await logged()).clicks).toHaveLength(attributed.length)
    expect(await notLogged()).toEqual({ rate_limited: 30 - attributed.length })
    expect((await open({ ip: '203.0.113.8' })).location).toContain('trib_id=')
    expect((await open({ userAgent: `${browser} 0` })).location).toContain('trib_id=')
  })
})
