import { Agent, request } from 'node:http'
import type { Plan } from '@tributary/contract/operation'
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest'
import { startEngines } from '../../../engines/start.ts'
import { buildWorkspace } from '../../test/build.ts'
import { type ServerProcess, startServer } from '../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { findAllowance } from './rate-limit.ts'

const platform = await openTestPlatform()
const valkey = await startEngines({ only: ['valkey'] })
const environment = {
  ...inject('environment'),
  ...valkey.urls,
  ROLES: 'api',
  ENTERPRISE_REQUESTS_PER_MINUTE: '25',
  ENTERPRISE_ANALYTICS_PER_SECOND: '6',
}
const servers = await Promise.all([startServer(environment), startServer(environment)])
const [one, other] = servers as [ServerProcess, ServerProcess]
const agent = new Agent({ keepAlive: true, maxSockets: 32 })
afterAll(async () => {
  agent.destroy()
  await Promise.all(servers.map((server) => server.stop()))
  await valkey.stop()
})

// On a busy machine Valkey may time out, so that the process counts some requests itself.
const patient = { retry: 2 }

// A request that is rejected right after it was counted, so that it costs little.
const cheap = '/links?page=0'

describe('the request after the limit of a plan', patient, () => {
  test.each<[Plan, number]>([
    ['free', 60],
    ['pro', 600],
    ['business', 1_200],
    ['advanced', 3_000],
    ['enterprise', 25],
  ])('%s: %d a minute', async (plan, limit) => {
    const { key } = await buildWorkspace(platform, { plan })
    const allowed = await calls(limit, key, cheap)
    expect(tally(allowed)).toEqual({ 422: limit })
    expect(allowed.map((answer) => answer.headers['x-ratelimit-limit'])).toEqual(allowed.map(() => String(limit)))
    expect(Math.min(...allowed.map((answer) => Number(answer.headers['x-ratelimit-remaining'])))).toBe(0)
    const next = await call(one.api + cheap, key)
    expectRefusal(next, { plan, limit, seconds: 60, window: 'minute' })
  })

  test.each<[Plan, number]>([
    ['business', 4],
    ['advanced', 8],
    ['enterprise', 6],
  ])('%s: %d a second on the analytics endpoints', async (plan, limit) => {
    const { key } = await buildWorkspace(platform, { plan })
    const answers = await calls(limit + 1, key, '/events')
    expect(tally(answers)).toEqual({ 200: limit, 429: 1 })
    const refused = answers.find((answer) => answer.status === 429) as Answer
    expectRefusal(refused, { plan, limit, seconds: 1, window: 'second' })
    await eventually(async () => expect((await call(`${one.api}/events`, key)).status).toBe(200), 2_000)
    // The standard and analytics limits are counted separately.
    const response = await call(one.api + cheap, key)
    expect(response.headers['x-ratelimit-remaining']).toBe(String(Number(response.headers['x-ratelimit-limit']) - 1))
  })

  test.each<[Plan, number]>([
    ['free', 60],
    ['pro', 2],
  ])('%s has no analytics at all', async (plan, limit) => {
    const { key } = await buildWorkspace(platform, { plan })
    const answer = await call(`${one.api}/events`, key)
    expect(answer.status).toBe(403)
    expect(JSON.parse(answer.body).error).toMatchObject({
      code: 'forbidden',
      message: `/events needs the business plan or higher; this workspace has ${plan}.`,
    })
    expect(answer.headers['x-ratelimit-limit']).toBe(String(limit))
  })
})

test('two processes share one limit, and each key has its own', patient, async () => {
  const [here, there] = await Promise.all([buildWorkspace(platform), buildWorkspace(platform)])
  const answers = await Promise.all([
    ...Array.from({ length: 30 }, (_, index) => call((index % 2 ? one : other).api + cheap, here.key)),
    call(one.api + cheap, there.key),
  ])
  expect(tally(answers.slice(0, 30))).toEqual({ 422: 25, 429: 5 })
  expect(answers.at(-1)?.headers['x-ratelimit-remaining']).toBe('24')
})

test('without Valkey each process counts alone, and after a reconnect they share counters again', async () => {
  const keys = await Promise.all(Array.from({ length: 3 }, async () => (await buildWorkspace(platform)).key))
  const [first, second, third] = keys as [string, string, string]
  // First, both processes cache the keys and count in Valkey.
  for (const { api } of servers) expect((await call(api + cheap, first)).status).toBe(422)

  await valkey.processes.valkey?.stop()
  for (const { api } of servers) {
    const started = performance.now()
    const answers = await calls(26, second, cheap, [api])
    expect(tally(answers)).toEqual({ 422: 25, 429: 1 })
    expect(performance.now() - started).toBeLessThan(5_000)
    const refused = answers.find((answer) => answer.status === 429) as Answer
    expectRefusal(refused, { plan: 'enterprise', limit: 25, seconds: 60, window: 'minute' })
    expect((await call(`${api}/links`, third)).status).toBe(200)
  }

  await valkey.processes.valkey?.restart()
  await eventually(async () => {
    const { key } = await buildWorkspace(platform)
    const answers = await calls(30, key, cheap, [one.api, other.api])
    expect(tally(answers)).toEqual({ 422: 25, 429: 5 })
  })
})

test('a hanging Valkey delays no request', async () => {
  const { key } = await buildWorkspace(platform)
  valkey.processes.valkey?.kill('SIGSTOP')
  onTestFinished(() => valkey.processes.valkey?.kill('SIGCONT'))
  const started = performance.now()
  const answers = await calls(26, key, cheap)
  expect(tally(answers)).toEqual({ 422: 25, 429: 1 })
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('the enterprise settings change no other plan', () => {
  const plans: Plan[] = ['free', 'pro', 'business', 'advanced', 'enterprise']
  const config = { ...platform.config, ENTERPRISE_REQUESTS_PER_MINUTE: 7, ENTERPRISE_ANALYTICS_PER_SECOND: 3 }
  expect(plans.map((plan) => findAllowance(plan, 'standard', config).limit)).toEqual([60, 600, 1_200, 3_000, 7])
  expect(plans.map((plan) => findAllowance(plan, 'analytics', config).limit)).toEqual([60, 2, 4, 8, 3])
})

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

function calls(count: number, key: string, path: string, bases = [one.api]): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(bases[index % bases.length] + path, key)))
}

/** Costs half as much CPU as `fetch`, which matters for thousands of requests. */
function call(url: string, key: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(url, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
      let body = ''
      response.on('data', (chunk) => {
        body += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

function tally(answers: Answer[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(answers, (answer) => answer.status)].map(([status, group]) => [status, group.length]),
  )
}

type Expected = { plan: Plan; limit: number; seconds: number; window: string }

function expectRefusal({ status, headers, body }: Answer, { plan, limit, seconds, window }: Expected) {
  const now = Date.now() / 1000
  const retryAfter = Number(headers['retry-after'])
  expect(status).toBe(429)
  expect(JSON.parse(body)).toEqual({
    error: {
      code: 'rate_limit_exceeded',
      message: `The ${plan} plan allows ${limit} requests per ${window} here. Try again in ${retryAfter} s.`,
      doc_url: expect.stringMatching(/\/docs\/errors\/rate_limit_exceeded$/),
    },
  })
  expect(headers).toMatchObject({ 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': '0' })
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/)
  expect(retryAfter).toBeLessThanOrEqual(seconds)
  expect(headers['x-ratelimit-reset']).toMatch(/^\d{10}$/)
  expect(Math.abs(Number(headers['x-ratelimit-reset']) - (now + retryAfter))).toBeLessThanOrEqual(2)
}
