import { jetstreamManager } from '@nats-io/jetstream'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { sleep } from '../../platform/clock.ts'
import { ensureStreams, eventStream, jetStream } from '../../platform/nats.ts'
import { clicksSubject } from '../redirect/messages.ts'
import { readBatches } from './read-batches.ts'

const engines = await startEngines({ only: ['nats'] })
afterAll(() => engines.stop())
const { nats, config } = await openTestPlatform({ ...engines.urls, EVENT_PARTITIONS: '2' })
await ensureStreams(nats, config)
const manager = await jetstreamManager(nats)
const partition = 1
const stream = eventStream(partition)
const dayMs = 86_400_000
let end = 0

beforeEach(async () => {
  end = (await manager.streams.info(stream)).state.last_seq
})

/** Publishes these texts one after the other. */
async function publish(...texts: string[]): Promise<void> {
  for (const text of texts) await jetStream(nats).publish(clicksSubject(partition), text)
}

function open(given: { intervalMs: number; maxBytes?: number; after?: number }) {
  const { intervalMs, maxBytes = 1_000_000, after = end } = given
  const stopping = new AbortController()
  const pace = { intervalMs: () => intervalMs, maxBytes, signal: stopping.signal }
  const batches = readBatches({ nats }, { partition, sequence: after }, pace)
  return {
    /** The texts of the next batch; undefined at the end. */
    async next(): Promise<string[] | undefined> {
      const batch = await batches.next()
      return batch.done ? undefined : batch.value.map((message) => message.string())
    },
    stop: () => stopping.abort(),
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await batches.return(undefined)
    },
  }
}

describe('batches of the event log', () => {
  test('have all messages that are there, in order', async () => {
    await using batches = open({ intervalMs: 0 })
    await publish('1', '2', '3', '4', '5')
    expect(await batches.next()).toEqual(['1', '2', '3', '4', '5'])
  })

  test('begin after the sequence that is given', async () => {
    await publish('1', '2', '3')
    await using batches = open({ intervalMs: 0, after: end + 2 })
    expect(await batches.next()).toEqual(['3'])
  })

  test('have a message that arrives after a pause at once', async () => {
    await using batches = open({ intervalMs: dayMs })
    const first = batches.next()
    await sleep(700)
    const started = performance.now()
    await publish('1')
    expect(await first).toEqual(['1'])
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('have the messages of one interval while messages arrive', async () => {
    await using batches = open({ intervalMs: 400 })
    await publish('1')
    expect(await batches.next()).toEqual(['1'])
    const started = performance.now()
    const second = batches.next()
    for (const text of ['2', '3', '4']) {
      await publish(text)
      await sleep(30)
    }
    expect(await second).toEqual(['2', '3', '4'])
    expect(performance.now() - started).toBeGreaterThan(300)
  })

  test('follow each other without a pause while more bytes wait than fit one', async () => {
    const texts = Array.from({ length: 7 }, (_, number) => `${number} ${'x'.repeat(1_000)}`)
    await publish(...texts)
    await using batches = open({ intervalMs: dayMs, maxBytes: 3_500 })
    const seen: string[][] = []
    while (seen.flat().length < texts.length) seen.push((await batches.next()) ?? [])
    expect(seen.flat()).toEqual(texts)
    expect(seen.length).toBeGreaterThan(1)
  })

  test('have a message that is larger than a batch may be', async () => {
    const texts = ['1', 'x'.repeat(5_000), '3']
    await publish(...texts)
    await using batches = open({ intervalMs: 0, maxBytes: 1 })
    const seen: string[] = []
    while (seen.length < texts.length) seen.push(...((await batches.next()) ?? []))
    expect(seen).toEqual(texts)
  })

  test('skip messages that were deleted', async () => {
    await publish('1', '2', '3')
    await manager.streams.deleteMessage(stream, end + 2)
    await using batches = open({ intervalMs: 0 })
    expect(await batches.next()).toEqual(['1', '3'])
  })

  test('end when the reader is stopped, also while it waits', async () => {
    await using batches = open({ intervalMs: dayMs })
    const waiting = batches.next()
    await sleep(50)
    batches.stop()
    expect(await waiting).toBeUndefined()
    expect(await batches.next()).toBeUndefined()
  })

  test('fail when the stream is gone', async () => {
    const pace = { intervalMs: () => 0, maxBytes: 1_000, signal: new AbortController().signal }
    await expect(readBatches({ nats }, { partition: 200, sequence: 0 }, pace).next()).rejects.toThrow()
  })
})

test('no message is lost, repeated or reordered at any pace', async () => {
  const anyPace = fc.array(fc.record({ count: fc.integer({ min: 1, max: 9 }), pauseMs: fc.nat(5) }), { maxLength: 10 })
  const anyBytes = fc.integer({ min: 200, max: 3_000 })
  await fc.assert(
    fc.asyncProperty(anyPace, fc.nat(20), anyBytes, async (pace, intervalMs, maxBytes) => {
      const { last_seq: after } = (await manager.streams.info(stream)).state
      const total = pace.reduce((sum, { count }) => sum + count, 0)
      await using batches = open({ intervalMs, maxBytes, after })
      let number = 0
      const writing = (async () => {
        for (const { count, pauseMs } of pace) {
          await publish(...Array.from({ length: count }, () => String(++number)))
          await sleep(pauseMs)
        }
      })()
      const seen: string[] = []
      while (seen.length < total) seen.push(...((await batches.next()) ?? []))
      await writing
      expect(seen).toEqual(Array.from({ length: total }, (_, index) => String(index + 1)))
    }),
    { numRuns: 40 },
  )
})
