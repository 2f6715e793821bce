import { randomUUID } from 'node:crypto'
import { type JsMsg, jetstreamManager } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startEngines } from '../../../engines/start.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { openPlatform } from './handles.ts'
import { job, startJobs } from './jobs.ts'
import { openLog } from './log.ts'
import { changeStream, jetStream } from './nats.ts'

const platform = await openTestPlatform()
const manager = await jetstreamManager(platform.nats)

describe('messages', () => {
  test('are handled in batches, in order, and acknowledged', async () => {
    const { name, send } = newJob()
    await send(...numbers(1, 1_200))
    const calls: number[][] = []
    await start(name, async (bodies) => void calls.push(bodies))
    await eventually(async () => expect(calls.flat()).toHaveLength(1_200))
    expect(calls.flat()).toEqual(numbers(1, 1_200))
    expect(calls.length).toBeLessThan(50)
    expect(Math.max(...calls.map((bodies) => bodies.length))).toBeLessThanOrEqual(500)
    await expectDone(name)
    expect(await metric(name, 'done')).toBe(1_200)
  })

  test('that arrive later are handled too', async () => {
    const { name, send } = newJob()
    const calls: number[][] = []
    await start(name, async (bodies) => void calls.push(bodies))
    for (const number of [1, 2, 3]) {
      await send(number)
      await eventually(async () => expect(calls.flat()).toContain(number))
    }
    await expectDone(name)
  })

  test('of other subjects are ignored', async () => {
    const [mine, other] = [newJob(), newJob()]
    const calls: number[][] = []
    await start(mine.name, async (bodies) => void calls.push(bodies))
    await other.send(1)
    await mine.send(2)
    await eventually(async () => expect(calls).toEqual([[2]]))
  })
})

test('a job handles at most `atOnce` messages in a batch', async () => {
  const { name, subject, send } = newJob()
  await send(...numbers(1, 25))
  const calls: number[][] = []
  const handle = async (_platform: unknown, bodies: number[]) => void calls.push(bodies)
  const running = await startJobs(platform, [job({ name, atOnce: 10, subject, schema: z.number(), handle })])
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]()
    await manager.consumers.delete(changeStream, name).catch(() => {})
  })
  await eventually(async () => expect(calls.flat()).toHaveLength(25))
  expect(Math.max(...calls.map((bodies) => bodies.length))).toBeLessThanOrEqual(10)
})

test('messages that wait for a retry do not stop others when `mostPending` leaves room', async () => {
  const { name, subject, send } = newJob()
  await send(...numbers(1, 6))
  const done: number[] = []
  const handle = async (_platform: unknown, bodies: number[]) => {
    if (bodies.some((number) => number < 6)) throw new Error('try again later')
    done.push(...bodies)
  }
  const limits = { atOnce: 1, mostPending: 100 }
  const running = await startJobs(platform, [job({ name, ...limits, subject, schema: z.number(), handle })])
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]()
    await manager.consumers.delete(changeStream, name).catch(() => {})
  })
  await eventually(async () => expect(done).toEqual([6]), 10_000)
})

test('a message becomes a dead letter after as many attempts as its job allows', async () => {
  const { name, subject, send } = newJob()
  await send(1)
  let calls = 0
  const handle = async () => {
    calls += 1
    throw new Error('try again later')
  }
  const running = await startJobs(platform, [job({ name, attempts: 2, subject, schema: z.number(), handle })])
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]()
    await manager.consumers.delete(changeStream, name).catch(() => {})
  })
  const letters = await deadLetters(name, 1)
  expect(letters[0]?.headers?.get('Reason')).toBe('try again later')
  // Each delivery is tried in a batch, and then alone.
  expect(calls).toBe(4)
})

test('a message is not redelivered while its handler runs for long', async () => {
  const { name, send } = newJob()
  const calls: number[][] = []
  await start(name, async (bodies) => {
    calls.push(bodies)
    if (calls.length > 1) return
    await manager.consumers.update(changeStream, name, { ack_wait: nanos(15_000) })
    await new Promise((resolve) => setTimeout(resolve, 18_000))
  })
  await send(1)
  await eventually(async () => expect(calls).toEqual([[1]]))
  await expectDone(name, 30_000)
  expect((await manager.consumers.info(changeStream, name)).delivered.consumer_seq).toBe(1)
}, 180_000)

describe('a batch that fails', () => {
  test('is retried message by message, and only the bad one is redelivered', async () => {
    const { name, send } = newJob()
    await send(1, 2, 3, 4)
    // On a busy machine the messages may arrive in two batches, so the test checks each message.
    const done: number[] = []
    let failures = 0
    await start(name, async (bodies) => {
      if (bodies.includes(3) && ++failures <= 2) throw new Error('no 3 today')
      done.push(...bodies)
    })
    await eventually(async () => expect(done).toHaveLength(4), 10_000)
    expect(done.toSorted()).toEqual([1, 2, 3, 4])
    expect(done.at(-1)).toBe(3)
    expect(failures).toBe(3)
    await expectDone(name)
    expect(await metric(name, 'done')).toBe(4)
    expect(await metric(name, 'dead')).toBe(0)
  })
})

describe('a malformed message', () => {
  test.each([
    ['is not JSON', 'hello', /Invalid input: expected number, received undefined/],
    ['has another shape', '{"a":1}', /Invalid input: expected number, received object/],
  ])('that %s becomes a dead letter with its reason, and the others are handled', async (_name, text, reason) => {
    const { name, subject, send } = newJob()
    await send(1)
    const { seq } = await jetStream(platform.nats).publish(subject, text)
    await send(2)
    const calls: number[][] = []
    await start(name, async (bodies) => void calls.push(bodies))
    await eventually(async () => expect(calls.flat()).toEqual([1, 2]))
    const letters = await deadLetters(name, 1)
    expect(letters.map((letter) => letter.string())).toEqual([text])
    expect(letters[0]?.headers?.get('Reason')).toMatch(reason)
    expect(letters[0]?.headers?.get('Subject')).toBe(subject)
    expect(letters[0]?.headers?.get('Sequence')).toBe(String(seq))
    await expectDone(name)
    expect(await metric(name, 'dead')).toBe(1)
    await eventually(async () => {
      expect((await platform.metrics.deadLetters.get()).values[0]?.value).toBeGreaterThan(0)
    }, 20_000)
  })
})

describe('a stop', () => {
  test('waits for the current batch, and leaves the rest to the next process', async () => {
    const { name, send } = newJob()
    await send(1)
    const begun = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const calls: number[][] = []
    const first = await start(name, async (bodies) => {
      begun.resolve()
      await gate.promise
      calls.push(bodies)
    })
    await begun.promise
    let stopped = false
    const stopping = Promise.resolve(first[Symbol.asyncDispose]()).then(() => {
      stopped = true
    })
    await send(2)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(stopped).toBe(false)
    gate.resolve()
    await stopping
    expect(calls).toEqual([[1]])
    await eventually(async () =>
      expect((await manager.consumers.info(changeStream, name)).ack_floor.consumer_seq).toBe(1),
    )

    await start(name, async (bodies) => void calls.push(bodies))
    await eventually(async () => expect(calls).toEqual([[1], [2]]))
  })

  test('of an idle job is quick', async () => {
    const { name } = newJob()
    const running = await start(name, async () => {})
    await eventually(async () => void (await manager.consumers.info(changeStream, name)))
    const started = performance.now()
    await running[Symbol.asyncDispose]()
    expect(performance.now() - started).toBeLessThan(3_000)
  })
})

test('a job that has not started because NATS is down stops at once', async () => {
  const engines = await startEngines({ only: ['nats'] })
  const second = await openPlatform({ ...platform.config, ...engines.urls }, openLog('silent'))
  onTestFinished(async () => {
    await second[Symbol.asyncDispose]()
    await engines.stop()
  })
  await engines.processes.nats?.stop()
  const { name, subject } = newJob()
  const running = await startJobs(second, [job({ name, subject, schema: z.number(), handle: async () => {} })])
  const started = performance.now()
  await running[Symbol.asyncDispose]()
  expect(performance.now() - started).toBeLessThan(3_000)
})

function newJob() {
  const name = `test-${randomUUID()}`
  const subject = `changes.0.${name}`
  const send = async (...bodies: unknown[]) => {
    const stream = jetStream(platform.nats)
    await Promise.all(bodies.map((body) => stream.publish(subject, JSON.stringify(body))))
  }
  return { name, subject, send }
}

async function start(name: string, handle: (bodies: number[]) => Promise<void>): Promise<AsyncDisposable> {
  const subject = `changes.0.${name}`
  const running = await startJobs(platform, [
    job({ name, subject, schema: z.number(), handle: (_platform, bodies) => handle(bodies) }),
  ])
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]()
    await manager.consumers.delete(changeStream, name).catch(() => {})
  })
  return running
}

async function expectDone(name: string, withinMs?: number): Promise<void> {
  await eventually(async () => {
    const { num_pending, num_ack_pending } = await manager.consumers.info(changeStream, name)
    expect({ num_pending, num_ack_pending }).toEqual({ num_pending: 0, num_ack_pending: 0 })
  }, withinMs)
}

async function deadLetters(name: string, count: number): Promise<JsMsg[]> {
  const consumer = await jetStream(platform.nats).consumers.get('DEAD_LETTERS', { filter_subjects: `dead.${name}` })
  const letters: JsMsg[] = []
  for await (const letter of await consumer.fetch({ max_messages: count, expires: 2_000 })) letters.push(letter)
  return letters
}

async function metric(name: string, outcome: string): Promise<number> {
  const { values } = await platform.metrics.jobs.get()
  return values.find(({ labels }) => labels.job === name && labels.outcome === outcome)?.value ?? 0
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}
