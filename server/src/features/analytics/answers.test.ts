import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { readConfig } from '../../platform/config.ts'
import { type Actor, systemActor } from '../../platform/context.ts'
import { cacheAnswer } from './answers.ts'

const config = readConfig({
  ENVIRONMENT: 'development',
  POSTGRES_URL: 'postgres://localhost/none',
  NATS_URL: 'nats://localhost:1',
  CLICKHOUSE_URL: 'http://localhost:1',
  VALKEY_URL: 'redis://localhost:1',
  CLICK_ID_KEYS: `1:${'0'.repeat(64)}`,
  ENCRYPTION_KEYS: `1:${'0'.repeat(64)}`,
})

function asker(workspaceId: string, tookMs = 0, actor: Actor = systemActor) {
  let runs = 0
  const ask = (query: object) =>
    cacheAnswer({ config, workspaceId, plan: 'pro', actor }, query, async () => {
      runs += 1
      await sleep(tookMs)
      return [{ run: runs }]
    })
  return { ask, runs: () => runs }
}

test('concurrent equal queries run once, whatever the order of their parameters', async () => {
  const { ask, runs } = asker('ws_together', 50)
  const same = { country: 'DE', event: 'clicks', city: undefined }
  const answers = await Promise.all([ask(same), ask({ event: 'clicks', country: 'DE' }), ask(same)])
  expect(new Set(answers).size).toBe(1)
  expect(runs()).toBe(1)
  await Promise.all([ask({ event: 'leads', country: 'DE' }), ask({ event: 'clicks' })])
  expect(runs()).toBe(3)
})

test('results are not shared with keys that may not read partners', async () => {
  const key: Actor = { kind: 'key', id: 'key', scopes: ['analytics.read'] }
  const [one, other] = [asker('ws_scopes', 20), asker('ws_scopes', 20, key)]
  await Promise.all([one.ask({}), other.ask({})])
  expect([one.runs(), other.runs()]).toEqual([1, 1])
})

test('results are not shared between workspaces', async () => {
  const [one, other] = [asker('ws_one', 20), asker('ws_other', 20)]
  await Promise.all([one.ask({}), other.ask({})])
  expect([one.runs(), other.runs()]).toEqual([1, 1])
})

test('the result of a slow query is cached for longer than of a fast query', async () => {
  const [slow, fast] = [asker('ws_slow', 1_000), asker('ws_fast')]
  const first = await slow.ask({})
  expect(await slow.ask({})).toBe(first)
  const runsOfFast = async () => {
    await fast.ask({})
    return fast.runs()
  }
  await expect.poll(runsOfFast, { timeout: 30_000 }).toBeGreaterThan(1)
})

test('a large result evicts other results from the cache', async () => {
  let runs = 0
  const url = 'x'.repeat(1_000_000)
  const ask = (query: object) =>
    cacheAnswer({ config, workspaceId: 'ws_large', plan: 'pro', actor: systemActor }, query, async () => {
      runs += 1
      await sleep(300)
      return Array.from({ length: 10 }, () => ({ url, clicks: 1 }))
    })
  for (const country of ['DE', 'FR', 'JP', 'JP']) await ask({ country })
  expect(runs).toBe(3)
  await ask({ country: 'DE' })
  expect(runs).toBe(4)
})

test('a failed query fails all waiting requests, and is not cached', async () => {
  let runs = 0
  const ask = () =>
    cacheAnswer({ config, workspaceId: 'ws_failing', plan: 'pro', actor: systemActor }, {}, async () => {
      runs += 1
      await sleep(20)
      throw new Error(`failure ${runs}`)
    })
  const outcomes = await Promise.allSettled([ask(), ask()])
  expect(outcomes.map((outcome) => String((outcome as PromiseRejectedResult).reason))).toEqual([
    'Error: failure 1',
    'Error: failure 1',
  ])
  await expect(ask()).rejects.toThrow('failure 2')
})
