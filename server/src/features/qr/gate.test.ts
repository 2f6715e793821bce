import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gate } from './gate.ts'

test('lets so many through at once, and all in the end', async () => {
  const pass = gate(2, 100)
  let [inside, most] = [0, 0]
  const work = async (number: number) => {
    most = Math.max(most, ++inside)
    await sleep(2)
    inside -= 1
    return number
  }
  const numbers = Array.from({ length: 20 }, (_, at) => at)
  expect(await Promise.all(numbers.map((number) => pass(() => work(number))))).toEqual(numbers)
  expect([most, inside]).toEqual([2, 0])
})

test('turns away who would be one too many to wait, and work that fails makes room', async () => {
  const pass = gate(1, 1)
  const [first, second, third] = [1, 2, 3].map((number) => pass(() => Promise.reject(new Error(`work ${number}`))))
  await expect(third).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  await expect(first).rejects.toThrow('work 1')
  await expect(second).rejects.toThrow('work 2')
  expect(await pass(async () => 'free again')).toBe('free again')
})
