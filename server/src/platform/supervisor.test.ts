import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { eventually } from '../../test/stack.ts'
import { openLog } from './log.ts'
import { countEarlyEnds, type ProcessPlan, restartDelayMs, startSupervisor } from './supervisor.ts'

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 120_000 })
const waitMs = 60_000
const folder = await mkdtemp(join(tmpdir(), 'tributary-supervisor-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const channel = new URL('./channel.ts', import.meta.url).href

test.each([
  [0, 250],
  [1, 250],
  [2, 500],
  [3, 1_000],
  [7, 16_000],
  [8, 30_000],
  [2_000, 30_000],
])('after %i consecutive early exits a process restarts after %i ms', (ends, delayMs) => {
  expect(restartDelayMs(ends)).toBe(delayMs)
})

test('early exits are counted until a process has run for a minute', () => {
  expect(countEarlyEnds(0, 10)).toBe(1)
  expect(countEarlyEnds(4, 59_999)).toBe(5)
  expect(countEarlyEnds(5, 60_000)).toBe(0)
})

describe('a supervised process', () => {
  test('restarts each time it ends, and reports why it was down', async () => {
    const { supervisor, one } = await start('setTimeout(() => process.exit(3), 200)')
    await supervisor.ready
    await eventually(async () => expect(one.restarts).toBeGreaterThanOrEqual(2), waitMs)
    await eventually(async () => {
      expect(one.up).toBe(false)
      expect(one.problem).toMatch(/^ended with code 3, restarts after \d+ ms$/)
    }, waitMs)
  })

  test('that is killed restarts with another pid, and responds again', async () => {
    const { supervisor, one } = await start('')
    await supervisor.ready
    const before = one.pid as number
    expect(await one.ask('pid')).toBe(before)
    process.kill(before, 'SIGKILL')
    await eventually(async () => {
      expect(one.up).toBe(true)
      expect(one.restarts).toBe(1)
      expect(one.pid).not.toBe(before)
      expect(await one.ask('pid')).toBe(one.pid)
    }, waitMs)
  })

  test('has its configured heap, whatever NODE_OPTIONS says', async () => {
    const { supervisor, one } = await start('', { NODE_OPTIONS: '--max-old-space-size=900' })
    await supervisor.ready
    const megabytes = (await one.ask('heap')) as number
    // The limit includes the young generation.
    expect(megabytes).toBeGreaterThanOrEqual(64)
    expect(megabytes).toBeLessThan(150)
  })

  test('gets less CPU time than its supervisor, by its niceness', async () => {
    const { supervisor, one } = await start('')
    await supervisor.ready
    expect(getPriority(one.pid as number)).toBe(Math.min(19, getPriority() + 3))
  })

  test('that exits because of invalid settings fails the start', async () => {
    const { supervisor } = await start('process.exit(78)')
    await expect(supervisor.ready).rejects.toThrow('The test refused to start.')
  })

  test('that does not stop is killed', async () => {
    const { supervisor, one } = await start("process.on('SIGTERM', () => {})")
    await supervisor.ready
    const pid = one.pid as number
    const started = performance.now()
    await supervisor[Symbol.asyncDispose]()
    expect(performance.now() - started).toBeGreaterThan(1_900)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  test('that does not respond in time fails the request, and continues', async () => {
    const { supervisor, one } = await start('')
    await supervisor.ready
    await expect(one.ask('silence', undefined, 50)).rejects.toThrow('no answer in 50 ms')
    await expect(one.ask('nonsense')).rejects.toThrow('unknown request nonsense')
    expect(await one.ask('pid')).toBe(one.pid)
  })
})

/** Starts a process that does `work`, then reports that it is up. */
async function start(work: string, environment: Record<string, string> = {}) {
  const program = join(folder, `${crypto.randomUUID()}.ts`)
  await writeFile(
    program,
    `import { getHeapStatistics } from 'node:v8'
import { openChannel } from ${JSON.stringify(channel)}
const channel = openChannel(process, {
  pid: () => process.pid,
  heap: () => getHeapStatistics().heap_size_limit / 1_048_576,
  silence: () => new Promise(() => {}),
})
void channel.closed.then(() => process.exit(0))
${work}
await channel.ask('up')
`,
  )
  const plan: ProcessPlan = {
    role: 'test',
    slot: 0,
    program,
    args: ['0'],
    heapMegabytes: 64,
    niceness: 3,
    environment: { PATH: process.env.PATH, ...environment },
  }
  const supervisor = startSupervisor([plan], { log: openLog('silent'), stopWithinMs: 2_000, answers: {} })
  onTestFinished(() => supervisor[Symbol.asyncDispose]())
  return { supervisor, one: supervisor.processes[0] as (typeof supervisor.processes)[number] }
}
