import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openTestPlatform } from '../../../test/stack.ts'
import { finishBackground, runInBackground, runLater } from './background.ts'

const { log } = await openTestPlatform()

test('delayed work does not begin with the next request, and runs before the process ends', async () => {
  const done: string[] = []
  runLater(log, 'delayed', async () => void done.push('delayed'))
  runInBackground(log, 'immediate', async () => void done.push('immediate'))
  expect(done).toEqual([])
  await sleep(100)
  expect(done).toEqual(['immediate'])
  await finishBackground()
  expect(done).toEqual(['immediate', 'delayed'])
})

test('work that fails does not affect other work, and a flood of work is dropped', async () => {
  let runs = 0
  runLater(log, 'failing', () => Promise.reject(new Error('no mail server')))
  for (let count = 0; count < 2_000; count++) runLater(log, 'flood', async () => void runs++)
  await finishBackground()
  expect(runs).toBe(999)
  runLater(log, 'after the flood', async () => void runs++)
  await finishBackground()
  expect(runs).toBe(1_000)
})
