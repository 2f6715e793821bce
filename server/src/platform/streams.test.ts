import type { StreamOperation } from '@tributary/contract/operation'
import { beforeEach, describe, expect, test } from 'vitest'
import { contextIn } from '../../test/context.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { forbidden } from './errors.ts'
import { openStreams, type Streamed, type Streams } from './streams.ts'

const platform = await openTestPlatform({ STREAM_STALL_MS: '100' })
const ctx = contextIn(platform, 'ws_streams')
const operation = { id: 'followAll', path: '/all/stream', openPerActor: 2 } as StreamOperation
let streams: Streams
let cuts: number

beforeEach(() => {
  streams = openStreams(platform)
  cuts = 0
})

function open(chunks: (signal: AbortSignal) => AsyncIterable<string>, by = ctx, recheck = async () => {}) {
  const start = async (signal: AbortSignal): Promise<Streamed> => ({ headers: { a: 'b' }, chunks: chunks(signal) })
  const cut = () => {
    cuts += 1
  }
  return streams.open(by, operation, start, cut, recheck)
}

async function* counting(to: number, onEnd: () => void = () => {}) {
  try {
    for (let number = 1; number <= to; number++) yield `${number};`
  } finally {
    onEnd()
  }
}

async function* failing(after: number) {
  yield* counting(after)
  throw new Error('ClickHouse is down')
}

describe('a stream', () => {
  test('consists of its chunks in order', async () => {
    const { headers, body } = await open(() => counting(3))
    expect(headers).toEqual({ a: 'b' })
    expect(await new Response(body).text()).toBe('1;2;3;')
    expect(cuts).toBe(0)
  })

  test('that fails before its first chunk returns an error; a later failure closes the connection', async () => {
    await expect(open(() => failing(0))).rejects.toThrow('ClickHouse is down')
    const { body } = await open(() => failing(2))
    const reader = body.getReader()
    await reader.read()
    await reader.read()
    void reader.read()
    await eventually(async () => expect(cuts).toBe(1))
  })

  test('produces nothing ahead of a slow client, and disconnects it', async () => {
    let made = 0
    async function* endless() {
      for (;;) yield String(++made)
    }
    const { body } = await open(endless)
    const reader = body.getReader()
    await reader.read()
    await eventually(async () => expect(cuts).toBe(1))
    expect(made).toBeLessThanOrEqual(2)
  })

  test('lets its producer clean up when the reader disconnects', async () => {
    let hasEnded = false
    const { body } = await open(() => counting(1_000, () => (hasEnded = true)))
    const reader = body.getReader()
    await reader.read()
    await reader.cancel()
    expect(hasEnded).toBe(true)
  })

  test('ends when the process closes all streams', async () => {
    let received: AbortSignal | undefined
    await open((signal) => {
      received = signal
      return counting(10)
    })
    expect(received?.aborted).toBe(false)
    await streams[Symbol.asyncDispose]()
    expect(received?.aborted).toBe(true)
  })
})

describe('the number of open streams of a key', () => {
  test('is limited per key, and falls when a stream ends, fails or is abandoned', async () => {
    const [one, two] = [await open(() => counting(1)), await open(() => counting(1))]
    await expect(open(() => counting(1))).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    const other = { ...ctx, actor: { ...ctx.actor, id: 'key_other' } }
    await open(() => counting(1), other)
    await new Response(one.body).text()
    await expect(open(() => failing(0))).rejects.toThrow('ClickHouse is down')
    const three = await open(() => counting(5))
    await expect(open(() => counting(1))).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
    await three.body.cancel()
    await two.body.cancel()
    await Promise.all([open(() => counting(1)), open(() => counting(1))])
    await expect(open(() => counting(1))).rejects.toThrow(
      /^This key has 2 open streams of \/all\/stream, the maximum\./,
    )
  })
})

describe('the key of a stream', () => {
  beforeEach(() => {
    // A busy machine may pause longer than a slow client of the tests above.
    streams = openStreams({ ...platform, config: { ...platform.config, STREAM_STALL_MS: 30_000 } })
  })

  test('ends it when the key loses access', async () => {
    const { body } = await open(endless, ctx, async () => {
      throw forbidden('This key lacks the scope.')
    })
    const reader = body.getReader()
    const started = Date.now()
    await eventually(async () => {
      await reader.read()
      expect(cuts).toBe(1)
    })
    expect(Date.now() - started).toBeLessThan(5_000)
    await reader.cancel()
  })

  test('does not end it when PostgreSQL is down', async () => {
    let asked = 0
    const { body } = await open(endless, ctx, async () => {
      asked += 1
      throw new Error('connect ECONNREFUSED')
    })
    const reader = body.getReader()
    await eventually(async () => {
      await reader.read()
      expect(asked).toBe(1)
    })
    expect(cuts).toBe(0)
    await reader.cancel()
  })

  async function* endless() {
    for (;;) yield 'more'
  }
})
