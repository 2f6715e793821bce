import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gate, lanes } from './gate.ts'

test('a gate runs a limited number of calls at once, and all of them in the end', async () => {
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

test('a gate refuses calls beyond the queue limit, and a failed call frees its slot', async () => {
  const pass = gate(1, 1)
  const [first, second, third] = [1, 2, 3].map((number) => pass(() => Promise.reject(new Error(`work ${number}`))))
  await expect(third).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  await expect(first).rejects.toThrow('work 1')
  await expect(second).rejects.toThrow('work 2')
  expect(await pass(async () => 'free again')).toBe('free again')
})

test('a visitor has one running call and then a pause, without delaying another visitor', async () => {
  const pass = lanes({ atOnce: 1, mostWaiting: 3, pauseFactor: 3, longestPauseMs: 1_000 })
  const work = () => sleep(20)
  const started = performance.now()
  const mine = Array.from({ length: 4 }, () => pass('one', work))
  await expect(pass('one', work)).rejects.toMatchObject({ code: 'rate_limit_exceeded' })
  await pass('other', work)
  const others = performance.now() - started
  await Promise.all(mine)
  const all = performance.now() - started
  expect(all).toBeGreaterThan(4 * 20 + 3 * 55)
  expect(others).toBeLessThan(all / 2)
})
