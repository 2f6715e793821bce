import { expect, test } from 'vitest'
import { eventually } from '../../test/stack.ts'
import { sleep } from './clock.ts'
import { openLog } from './log.ts'
import { startInterval } from './schedule.ts'

const log = openLog('silent')

test('runs at once, and again after each pause', async () => {
  const at: number[] = []
  await using _loop = startInterval({ log }, 'test', 30, async () => void at.push(Date.now()))
  expect(at).toHaveLength(1)
  await eventually(async () => expect(at.length).toBeGreaterThanOrEqual(4))
  for (let index = 1; index < 4; index++) expect((at[index] ?? 0) - (at[index - 1] ?? 0)).toBeGreaterThanOrEqual(25)
})

test('never overlaps, however long a run takes', async () => {
  let running = 0
  let most = 0
  let count = 0
  await using _loop = startInterval({ log }, 'test', 1, async () => {
    most = Math.max(most, ++running)
    await sleep(20)
    running--
    count++
  })
  await eventually(async () => expect(count).toBeGreaterThanOrEqual(3))
  expect(most).toBe(1)
})

test('an error is logged with the name, and the next run follows', async () => {
  const lines: string[] = []
  const loud = openLog('info', { write: (line: string) => void lines.push(line) })
  let count = 0
  await using _loop = startInterval({ log: loud }, 'sweep', 10, async () => {
    if (count++ === 0) throw new Error('database is down')
  })
  await eventually(async () => expect(count).toBeGreaterThanOrEqual(2))
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'warn',
    schedule: 'sweep',
    error: { message: 'database is down' },
  })
})

test('a synchronous error is caught too', async () => {
  let count = 0
  await using _loop = startInterval({ log }, 'test', 5, () => {
    count++
    throw new Error('at once')
  })
  await eventually(async () => expect(count).toBeGreaterThanOrEqual(2))
})

test('disposing aborts the current run and waits for it, and ends a pause early', async () => {
  let finished = false
  const busy = startInterval({ log }, 'test', 60_000, async (signal) => {
    await sleep(50)
    finished = signal.aborted
  })
  await busy[Symbol.asyncDispose]()
  expect(finished).toBe(true)

  const resting = startInterval({ log }, 'test', 60_000, async () => {})
  await sleep(10)
  const started = Date.now()
  await resting[Symbol.asyncDispose]()
  expect(Date.now() - started).toBeLessThan(1_000)
})
