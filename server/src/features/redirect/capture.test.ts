import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jetstreamManager } from '@nats-io/jetstream'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildClick } from '../../../test/build.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { openMetrics } from '../../platform/metrics.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { readLogBody } from '../ingest/log-body.ts'
import { type Capture, openCapture } from './capture.ts'
import type { RawClick } from './messages.ts'
import { redirectMetrics } from './metrics.ts'
import { openSpool, type Spool } from './spool.ts'

const partitions = 2
const deadlineMs = 500
const engines = await startEngines({ only: ['nats'] })
const shared = await openTestPlatform({
  ...engines.urls,
  EVENT_PARTITIONS: String(partitions),
  CAPTURE_DEADLINE_MS: String(deadlineMs),
  SPOOL_MAX_MEGABYTES: '1',
})
await ensureStreams(shared.nats, shared.config)
const manager = await jetstreamManager(shared.nats)
afterAll(() => engines.stop())

describe.each(['json', 'binary'] as const)('clicks as %s', (format) => {
  let platform: Platform
  let capture: Capture
  let spool: Spool
  let spoolFiles: () => Promise<string[]>

  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tributary-spool-'))
    platform = {
      ...shared,
      metrics: openMetrics(),
      config: { ...shared.config, SPOOL_DIRECTORY: folder, CLICK_LOG_FORMAT: format },
    }
    spool = await openSpool(platform)
    capture = openCapture(platform, spool)
    spoolFiles = () => readdir(join(folder, 'clicks'))
    for (let partition = 0; partition < partitions; partition++) await manager.streams.purge(eventStream(partition))
  })

  afterEach(async () => {
    engines.processes.nats?.kill('SIGCONT')
    await capture[Symbol.asyncDispose]()
    await spool[Symbol.asyncDispose]()
    await rm(platform.config.SPOOL_DIRECTORY, { recursive: true })
  })

  function someClick(workspaceId = 'ws_1', given: Partial<RawClick> = {}): RawClick {
    return buildClick(platform, { number: 7n, workspaceId, url: 'https://example.com/' }, given)
  }

  function add(click: RawClick): Promise<boolean> {
    return new Promise((resolve) => capture.add(click, resolve))
  }

  /** The id and clicks of every message of a partition. */
  async function readLog(partition: number): Promise<{ id: string; clicks: RawClick[] }[]> {
    const { state } = await manager.streams.info(eventStream(partition))
    if (state.messages === 0) return []
    const consumer = await jetStream(platform.nats).consumers.get(eventStream(partition))
    const messages = await consumer.fetch({ max_messages: state.messages, expires: 2_000 })
    const read: { id: string; clicks: RawClick[] }[] = []
    for await (const message of messages) {
      read.push({ id: message.headers?.get('Nats-Msg-Id') ?? '', clicks: readLogBody(message.data) as RawClick[] })
    }
    return read
  }

  async function loggedIds(): Promise<string[]> {
    const logs = await Promise.all(Array.from({ length: partitions }, (_, partition) => readLog(partition)))
    return logs.flat().flatMap(({ clicks }) => clicks.map(({ id }) => id))
  }

  async function outcomes(): Promise<Record<string, number>> {
    const { values } = await redirectMetrics(platform).captureSeconds.get()
    const counts = values.filter(({ metricName }) => metricName?.endsWith('_count'))
    return Object.fromEntries(counts.map(({ labels, value }) => [labels.outcome, value]))
  }

  /** Resolves when NATS has really stopped answering. */
  async function hang(): Promise<void> {
    engines.processes.nats?.kill('SIGSTOP')
    const late = () => new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), 100))
    const answers = () => platform.nats.rtt().catch(() => 0)
    while ((await Promise.race([answers(), late()])) !== 'late');
  }

  async function timed(work: () => Promise<unknown>): Promise<number> {
    const started = performance.now()
    await work()
    return performance.now() - started
  }

  describe('while NATS is up', () => {
    test('a click is in the event log when its callback is called', async () => {
      const click = someClick()
      await add(click)
      const partition = hashPartition('ws_1', partitions)
      expect((await manager.streams.info(eventStream(partition))).state.messages).toBe(1)
      expect(await readLog(partition)).toEqual([{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), clicks: [click] }])
      expect(await spoolFiles()).toEqual([])
    })

    test('a thousand concurrent clicks share a few messages; none is lost or duplicated', async () => {
      const clicks: RawClick[] = []
      const stored: Promise<boolean>[] = []
      for (let wave = 0; wave < 20; wave++) {
        for (let visitor = 0; visitor < 50; visitor++) {
          const click = someClick()
          clicks.push(click)
          stored.push(add(click))
        }
        await new Promise(setImmediate)
      }
      await Promise.all(stored)
      const messages = await readLog(hashPartition('ws_1', partitions))
      expect(
        messages
          .flatMap((message) => message.clicks)
          .map(({ id }) => id)
          .sort(),
      ).toEqual(clicks.map(({ id }) => id).sort())
      expect(messages.length).toBeLessThanOrEqual(40)
      expect(await outcomes()).toEqual({ log: messages.length })
    })

    test('all clicks of a workspace are in one partition', async () => {
      const clicks = Array.from({ length: 40 }, (_, index) => someClick(`ws_${index}`))
      await Promise.all(clicks.map((click) => add(click)))
      for (let partition = 0; partition < partitions; partition++) {
        const expected = clicks.filter(({ workspaceId }) => hashPartition(workspaceId, partitions) === partition)
        const logged = (await readLog(partition)).flatMap((message) => message.clicks)
        expect(expected.length).toBeGreaterThan(0)
        expect(logged).toEqual(expected)
      }
    })

    test('long URLs use more messages, none larger than the log accepts', async () => {
      const url = `https://example.com/?${'ü'.repeat(8_000)}`
      const clicks = Array.from({ length: 200 }, () => someClick('ws_1', { url }))
      await Promise.all(clicks.map((click) => add(click)))
      expect((await loggedIds()).sort()).toEqual(clicks.map(({ id }) => id).sort())
      expect(await outcomes()).toEqual({ log: expect.any(Number) })
      expect(await spoolFiles()).toEqual([])
    })

    test('disposing the capture waits for pending clicks', async () => {
      const clicks = Array.from({ length: 30 }, (_, index) => someClick(`ws_${index}`))
      for (const click of clicks) void add(click)
      await capture[Symbol.asyncDispose]()
      expect((await loggedIds()).sort()).toEqual(clicks.map(({ id }) => id).sort())
    })
  })

  describe('while NATS is down', () => {
    const ways: [string, () => unknown, () => unknown][] = [
      ['stopped', () => engines.processes.nats?.stop(), () => engines.processes.nats?.restart()],
      ['hanging', hang, () => engines.processes.nats?.kill('SIGCONT')],
    ]

    test.each(ways)(
      '%s: clicks are spooled within the deadline, and are in the log once after NATS recovers',
      async (_name, take, giveBack) => {
        const before = someClick()
        await add(before)
        await take()
        const first = Array.from({ length: 10 }, () => someClick())
        expect(await timed(() => Promise.all(first.map((click) => add(click))))).toBeLessThan(deadlineMs + 1_000)
        expect(await spoolFiles()).toHaveLength(1)

        const later = Array.from({ length: 5 }, () => someClick())
        for (const click of later) expect(await timed(() => add(click))).toBeLessThan(deadlineMs)
        const spooled = await spoolFiles()
        expect(spooled).toHaveLength(6)
        for (const name of spooled) expect(name).toMatch(/\.json$/)
        expect(await outcomes()).toEqual({ log: 1, spool: 6 })

        await giveBack()
        await eventually(async () => expect(await spoolFiles()).toEqual([]), 10_000)
        const messages = await readLog(hashPartition('ws_1', partitions))
        const ids = messages.flatMap(({ clicks }) => clicks.map(({ id }) => id))
        expect(ids.sort()).toEqual([before, ...first, ...later].map(({ id }) => id).sort())
        for (const name of spooled) expect(messages.map(({ id }) => id)).toContain(name.slice(-41, -5))

        await eventually(async () => {
          await add(someClick())
          expect((await outcomes()).log).toBeGreaterThan(1)
        })
        expect((await redirectMetrics(platform).spoolBytes.get()).values[0]?.value).toBe(0)
      },
    )

    test('a second message is sent early only when it is large; later clicks share the next message', async () => {
      await hang()
      const stored: Promise<boolean>[] = []
      const addSome = async (count: number, userAgent: string) => {
        for (let visitor = 0; visitor < count; visitor++) {
          stored.push(add(someClick('ws_1', { userAgent: `${userAgent} ${visitor}` })))
          await new Promise(setImmediate)
          await new Promise(setImmediate)
        }
      }
      await addSome(10, 'small')
      await addSome(1, 'l'.repeat(40_000))
      await addSome(5, 'late')
      await Promise.all(stored)
      expect(await outcomes()).toEqual({ spool: 3 })
      engines.processes.nats?.kill('SIGCONT')
      await eventually(async () => expect(await spoolFiles()).toEqual([]), 10_000)
      expect(await loggedIds()).toHaveLength(16)
      expect((await readLog(hashPartition('ws_1', partitions))).map(({ clicks }) => clicks.length).sort()).toEqual([
        1, 10, 5,
      ])
    })

    test('a full spool still redirects the visitor and counts the lost click', async () => {
      await engines.processes.nats?.stop()
      const large = { userAgent: 'a'.repeat(300_000) }
      for (let index = 0; index < 3; index++) await add(someClick('ws_1', large))
      expect(await timed(async () => expect(await add(someClick('ws_1', large))).toBe(false))).toBeLessThan(
        deadlineMs + 1_000,
      )
      expect(await outcomes()).toEqual({ spool: 3, lost: 1 })
      await add(someClick())
      expect(await outcomes()).toEqual({ spool: 4, lost: 1 })
      expect(await spoolFiles()).toHaveLength(4)
      await engines.processes.nats?.restart()
      await eventually(async () => expect(await spoolFiles()).toEqual([]), 10_000)
      expect(await loggedIds()).toHaveLength(4)
    })
  })
})
