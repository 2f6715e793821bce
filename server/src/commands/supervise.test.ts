import { expect, inject, test } from 'vitest'
import { readConfig } from '../platform/config.ts'
import { openTurns, planProcesses } from './supervise.ts'

const settings = { ...inject('environment'), REDIRECT_PROCESSES: '3', WORKER_HEAP_MEGABYTES: '99' }

test('each role gets a process with its heap size, and the redirect REDIRECT_PROCESSES of them', () => {
  const plans = planProcesses(readConfig(settings), 3, { POSTGRES_URL: 'kept' })
  expect(plans.map(({ role, slot, heapMegabytes }) => [role, slot, heapMegabytes])).toEqual([
    ['worker', 0, 99],
    ['api', 0, 160],
    ['redirect', 0, 128],
    ['redirect', 1, 128],
    ['redirect', 2, 128],
  ])
  expect(plans[4]).toMatchObject({
    args: ['serve', '--slot', '2'],
    environment: { POSTGRES_URL: 'kept', ROLES: 'redirect', REDIRECT_PROCESSES: '3', MALLOC_ARENA_MAX: '2' },
  })
  expect(plans.map(({ niceness }) => niceness)).toEqual([5, 0, 0, 0, 0])
})

test('only the roles in ROLES get a process', () => {
  const plans = planProcesses(readConfig({ ...settings, ROLES: 'redirect,worker' }), 1)
  expect(plans.map(({ role }) => role)).toEqual(['worker', 'redirect'])
})

test('one of several processes creates the streams, and the others wait for it', async () => {
  const turns = openTurns(1_000)
  const never = new Promise<void>(() => {})
  expect(await turns.take(never)).toBe(true)
  const others = [turns.take(never), turns.take(never)]
  expect(await Promise.race([others[0], 'waits'])).toBe('waits')
  turns.finish()
  expect(await Promise.all(others)).toEqual([false, false])
})

test('the turn to create the streams passes on when its process ends', async () => {
  const turns = openTurns(1_000)
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  expect(await turns.take(ended)).toBe(true)
  const next = turns.take(new Promise(() => {}))
  resolve()
  expect(await next).toBe(true)
})

test('the turn to create the streams passes on when its process could not create them', async () => {
  const turns = openTurns(1_000)
  const never = new Promise<void>(() => {})
  expect(await turns.take(never)).toBe(true)
  const next = turns.take(never)
  turns.giveUp()
  expect(await next).toBe(true)
})

test('after a while, the next process creates the streams again', async () => {
  const turns = openTurns(20)
  expect(await turns.take(Promise.resolve())).toBe(true)
  turns.finish()
  await new Promise((resolve) => setTimeout(resolve, 40))
  expect(await turns.take(Promise.resolve())).toBe(true)
})
