import { expect, test } from 'vitest'
import { createGate } from './gate.ts'

test('runs callers up to the limit, queues further callers in order, and rejects them beyond the queue', async () => {
  const gate = createGate(2, 2, () => new Error('full'))
  const inside: number[] = []
  const enter = (visitor: number) => gate.enter().then(() => inside.push(visitor))
  const entered = [enter(1), enter(2), enter(3), enter(4)]
  await Promise.all(entered.slice(0, 2))
  await expect(gate.enter()).rejects.toThrow('full')
  expect(inside).toEqual([1, 2])
  gate.leave()
  await entered[2]
  expect(inside).toEqual([1, 2, 3])
  gate.leave()
  await entered[3]
  gate.leave()
  gate.leave()
  await enter(5)
  expect(inside).toEqual([1, 2, 3, 4, 5])
})
