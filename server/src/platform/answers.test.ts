import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { listEvents } from '@tributary/contract/events'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { contextIn } from '../../test/context.ts'
import { clickRow, storeEvents } from '../../test/events/feed-rows.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { linkNumbers } from '../features/links/service.ts'
import { createToken } from '../features/tokens/service.ts'
import { changeWorkspace } from '../features/workspaces/service.ts'
import { openAdmission, type Sender, serialize, streamList } from './answers.ts'
import { sleep } from './clock.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const megabyte = 1_048_576
const [one, other] = [
  { workspaceId: 'one', plan: 'free' },
  { workspaceId: 'other', plan: 'free' },
] as const

describe('requests of one workspace', () => {
  test('are queued above the limit, while requests of other workspaces run at once', async () => {
    const admission = openAdmission({ ...platform, config: { ...platform.config, API_WORKSPACE_CONCURRENCY: 2 } })
    const entered: string[] = []
    const enter = async (name: string, asking: typeof one | typeof other) => {
      const leave = await admission.enter(asking, 'standard')
      entered.push(name)
      return leave
    }
    const leave = [await enter('a', one), await enter('b', one)]
    const waiting = [enter('c', one), enter('d', one)]
    await enter('e', other)
    expect(entered).toEqual(['a', 'b', 'e'])
    leave[0]?.()
    leave[0]?.()
    const third = await waiting[0]
    expect(entered).toEqual(['a', 'b', 'e', 'c'])
    third?.()
    await waiting[1]
    expect(entered).toEqual(['a', 'b', 'e', 'c', 'd'])
    const heavy = [await admission.enter(one, 'analytics')]
    expect(heavy).toHaveLength(1)
  })

  test('get 429 when a thousand are queued or 16 MB of bodies are arriving', async () => {
    const admission = openAdmission({ ...platform, config: { ...platform.config, API_WORKSPACE_CONCURRENCY: 1 } })
    await admission.enter(one, 'standard')
    // Queued requests get 429 after 20 s, which a slow test run may reach.
    for (let count = 0; count < 1_000; count++) admission.enter(one, 'standard').catch(() => {})
    await expect(admission.enter(one, 'standard')).rejects.toMatchObject({ status: 429 })
    const sender = (name: string): Sender => ({ kind: 'workspace', name, plan: 'free' })
    const release = admission.reserve(sender('one'), 10 * megabyte)
    expect(() => admission.reserve(sender('one'), 7 * megabyte)).toThrow('more than 16 MB of request bodies')
    admission.reserve(sender('other'), 7 * megabyte)
    release()
    admission.reserve(sender('one'), 7 * megabyte)
    for (const name of ['a', 'b', 'c']) admission.reserve(sender(name), 16 * megabyte)
    expect(() => admission.reserve(sender('d'), 16 * megabyte)).toThrow('has no memory for further request bodies')
  })
})

describe('while the process is busy', () => {
  const config = { ...platform.config, API_WORKSPACE_CONCURRENCY: 4 }
  const openBusy = async () => {
    const admission = openAdmission({ ...platform, config }, () => 0.9)
    await sleep(110)
    let running = 0
    const run = async (asking: typeof one | typeof other, workMs: number) => {
      const leave = await admission.enter(asking, 'standard')
      running += 1
      const seen = running
      await sleep(workMs)
      running -= 1
      leave()
      return seen
    }
    return { admission, run }
  }

  test('a workspace with many requests runs one at a time with pauses, and another does not wait', async () => {
    const { admission, run } = await openBusy()
    const askBeside = async () => (await admission.enter(other, 'standard'))()
    await askBeside()
    const asking = setInterval(() => void askBeside(), 100)
    onTestFinished(() => clearInterval(asking))
    const started = performance.now()
    let done = 0
    const many = Array.from({ length: 8 }, () => run(one, 20).finally(() => done++))
    await Promise.all([askBeside(), askBeside()])
    expect(done).toBe(0)
    const seen = await Promise.all(many)
    // The first three requests were admitted before the limit applied.
    expect(seen.slice(0, 3)).toEqual([1, 2, 3])
    expect(seen.slice(5)).toEqual([1, 1, 1])
    expect(performance.now() - started).toBeGreaterThan(8 * 20)
  })

  test('a workspace that is alone keeps all its request slots', async () => {
    const { run } = await openBusy()
    expect(Math.max(...(await Promise.all(Array.from({ length: 8 }, () => run(one, 20)))))).toBe(4)
  })
})

test('one visitor cannot use up the body memory of other visitors or of API keys', () => {
  const admission = openAdmission(platform)
  const visitor = (name: string): Sender => ({ kind: 'visitor', name, plan: 'none' })
  for (let count = 0; count < 16; count++) admission.reserve(visitor('one'), 65_536)
  expect(() => admission.reserve(visitor('one'), 65_536)).toThrow('more than 1 MB of request bodies')
  for (let count = 0; count < 15; count++) admission.reserve(visitor(`other ${count}`), megabyte)
  expect(() => admission.reserve(visitor('another'), megabyte)).toThrow('has no memory for further request bodies')
  admission.reserve({ kind: 'workspace', name: 'one', plan: 'free' }, 16 * megabyte)
})

describe('a large list', () => {
  const items = () => Array.from({ length: 3_000 }, (_, index) => ({ index, text: 'ü'.repeat(500) }))

  test('is streamed item by item, with the same JSON as in one piece', async () => {
    let ends = 0
    const stream = streamList(items(), { stallMs: 1_000, cut() {}, ended: () => ends++ })
    expect(await text(stream)).toBe(JSON.stringify(items()))
    expect(ends).toBe(1)
    const cached = items()
    await text(streamList(cached, { stallMs: 1_000, cut() {}, ended() {} }))
    expect(cached).toEqual(items())
    expect([serialize(items()), serialize([1, { a: 'b' }]), serialize([])]).toEqual([undefined, '[1,{"a":"b"}]', '[]'])
  })

  test('yields to other requests between its chunks, even for a fast client', async () => {
    let turns = 0
    const turn = setInterval(() => turns++, 0)
    await text(streamList(items(), { stallMs: 1_000, cut() {}, ended() {} }))
    clearInterval(turn)
    expect(turns).toBeGreaterThan(3)
  })

  test('is aborted when the client reads nothing', async () => {
    const outcome = Promise.withResolvers<string>()
    let ends = 0
    const stream = streamList(items(), { stallMs: 50, cut: () => outcome.resolve('cut'), ended: () => ends++ })
    const reader = stream.getReader()
    await reader.read()
    expect(await outcome.promise).toBe('cut')
    expect(ends).toBe(1)
  })
})

describe('GET /events with links of 60 kB', () => {
  const geo = (count: number) =>
    Object.fromEntries(
      ['DE', 'FR', 'US'].slice(0, count).map((code) => [code, `https://a.example/${'x'.repeat(20_000)}`]),
    )

  test('a full page of one link is complete, and its memory does not grow with the rows', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildLink(platform, workspace, { geo: geo(3) })
    const [linkNumber = 0n] = await linkNumbers(contextIn(platform, workspace.id), { ids: [id] })
    const owner = { workspaceId: workspace.id, linkNumber }
    await storeEvents(platform, { clicks: Array.from({ length: 1_000 }, () => clickRow(owner)) })
    const headers = { authorization: `Bearer ${workspace.key}` }
    const response = await fetch(`${api}/events?event=clicks&limit=1000`, { headers })
    expect(response.status).toBe(200)
    const answer = await response.text()
    expect(answer.length).toBeGreaterThan(60_000_000)
    const events = listEvents.response.parse(JSON.parse(answer)) as { link: { id: string } }[]
    expect(new Set(events.map(({ link }) => link.id))).toEqual(new Set([id]))
    expect(events).toHaveLength(1_000)
  })

  test('a page of too many different links gets 422 with advice, a smaller page succeeds', async () => {
    const workspace = await buildWorkspace(platform)
    const links: { id: string }[] = []
    for (let count = 0; count < 150; count++) links.push(await buildLink(platform, workspace, { geo: geo(3) }))
    const ids = links.map(({ id }) => id)
    const numbers = await linkNumbers(contextIn(platform, workspace.id), { ids })
    await storeEvents(platform, {
      clicks: numbers.map((linkNumber) => clickRow({ workspaceId: workspace.id, linkNumber })),
    })
    const ask = async (limit: number) => {
      const headers = { authorization: `Bearer ${workspace.key}` }
      const response = await fetch(`${api}/events?event=clicks&limit=${limit}`, { headers })
      return { status: response.status, answer: (await response.json()) as { error?: { message: string } } }
    }
    const { status, answer } = await ask(150)
    expect([status, answer.error?.message]).toEqual([422, expect.stringContaining('Lower `limit` in the query')])
    expect(await ask(100)).toMatchObject({ status: 200, answer: { length: 100 } })
  })
})

test('slow senders of large bodies get 429 at 16 MB, and another workspace is served', async () => {
  const [hostile, honest] = [await buildWorkspace(platform), await buildWorkspace(platform)]
  const statuses: (number | undefined)[] = []
  const sending = Array.from({ length: 20 }, () => {
    const headers = { authorization: `Bearer ${hostile.key}`, 'content-length': megabyte }
    const call = request(`${api}/links/bulk`, { method: 'POST', headers }, (response) => {
      statuses.push(response.statusCode)
      response.resume()
    })
    call.on('error', () => {}).write('[')
    return call
  })
  try {
    await expect.poll(() => statuses.filter((status) => status === 429).length, { timeout: 30_000 }).toBe(4)
    const headers = { authorization: `Bearer ${honest.key}` }
    const body = JSON.stringify([{ url: 'https://example.com' }])
    expect((await fetch(`${api}/links/bulk`, { method: 'POST', headers, body })).status).toBe(200)
  } finally {
    for (const call of sending) call.destroy()
  }
})

test("slow bodies with a publishable key get 429 at 1 MB, and the workspace's own server is served", async () => {
  const workspace = await buildWorkspace(platform)
  await changeWorkspace(platform, workspace.id, { allowed_hostnames: ['shop.example'] })
  const page = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
  const statuses: (number | undefined)[] = []
  const sending = Array.from({ length: 20 }, () => {
    const headers = { authorization: `Bearer ${page.key}`, origin: 'https://shop.example', 'content-length': 65_536 }
    const call = request(`${api}/track/lead`, { method: 'POST', headers }, (response) => {
      statuses.push(response.statusCode)
      response.resume()
    })
    call.on('error', () => {}).write('{')
    return call
  })
  try {
    await expect.poll(() => statuses, { timeout: 10_000 }).toEqual([429, 429, 429, 429])
    const headers = { authorization: `Bearer ${workspace.key}` }
    const body = JSON.stringify({ url: 'https://example.com' })
    expect((await fetch(`${api}/links`, { method: 'POST', headers, body })).status).toBe(200)
  } finally {
    for (const call of sending) call.destroy()
  }
}, 180_000)
