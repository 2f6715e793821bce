import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { startEngines } from '../../../engines/start.ts'
import { eventually } from '../../test/stack.ts'
import { readConfig } from './config.ts'
import type { Platform } from './context.ts'
import { openPlatform } from './handles.ts'
import { figures } from './health.ts'
import { openLog } from './log.ts'
import { reportProcess, startOps } from './ops.ts'

const { api, ops } = inject('server')
const closed = '127.0.0.1:1'
const stream = { bytes: expect.any(Number), limitBytes: expect.any(Number) }
const partition = { lagMessages: expect.any(Number), lagSeconds: expect.any(Number), owned: true }
const well = { ok: true, milliseconds: expect.any(Number) }

describe.each([
  ['the operator port', ops],
  ['the API port', api],
])('%s', (_name, base) => {
  test('/healthz reports that the process is alive', async () => {
    expect(await get(base, '/healthz')).toEqual({ status: 200, type: 'application/json', body: { status: 'alive' } })
  })

  test('/metrics has the metrics of the process', async () => {
    await fetch(`${api}/links`)
    const response = await fetch(`${base}/metrics`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    const text = await response.text()
    expect(text).toMatch(
      /^tributary_request_seconds_count\{role="api",slot="0",operation="getLinks",status="401"\} \d+$/m,
    )
    expect(text).toContain('tributary_process_resident_memory_bytes{role="api",slot="0"}')
  })
})

const engineStates = {
  postgres: { ...well, needed: true },
  nats: { ...well, needed: true },
  clickhouse: { ...well, needed: true },
  valkey: { ...well, needed: false },
}

test('/readyz on the operator port reports the state of each engine, role and process', async () => {
  await eventually(async () => expect(await get(ops, '/readyz')).toHaveProperty('body.partitions.1.owned', true))
  await eventually(async () => expect(await get(ops, '/readyz')).toHaveProperty('body.streams.DEAD_LETTERS'))
  const shared = { slot: 0, pid: expect.any(Number), up: true, restarts: 0, ready: true }
  expect(await get(ops, '/readyz?verbose')).toEqual({
    status: 200,
    type: 'application/json',
    body: {
      ready: true,
      roles: { worker: { ready: true }, api: { ready: true }, redirect: { ready: true } },
      engines: engineStates,
      partitions: { 0: partition, 1: partition },
      streams: { EVENTS_0: stream, EVENTS_1: stream, CHANGES: stream, DEAD_LETTERS: stream },
      processes: ['worker', 'api', 'redirect'].map((role) => ({ role, ...shared, engines: expect.any(Object) })),
    },
  })
  expect(await get(ops, '/readyz?role=redirect')).toMatchObject({ status: 200, body: { ready: true } })
  expect(await get(ops, '/readyz?role=nonsense')).toMatchObject({ status: 503, body: { ready: false } })
})

test('/readyz on the API port reports the engines that the api needs', async () => {
  const { nats, clickhouse } = engineStates
  expect(await get(api, '/readyz')).toEqual({
    status: 200,
    type: 'application/json',
    body: {
      ready: true,
      engines: { ...engineStates, nats: { ...nats, needed: false }, clickhouse: { ...clickhouse, needed: false } },
    },
  })
})

test('/metrics on the operator port has the metrics of every process, each metric once', async () => {
  const text = await (await fetch(`${ops}/metrics`)).text()
  for (const role of ['worker', 'api', 'redirect']) {
    expect(text).toContain(`tributary_process_up{role="${role}",slot="0"} 1`)
    expect(text).toContain(`tributary_process_restarts_total{role="${role}",slot="0"} 0`)
    expect(text).toMatch(new RegExp(`^tributary_process_resident_memory_bytes\\{role="${role}",slot="0"\\} `, 'm'))
  }
  expect(text).toContain('# TYPE tributary_ingest_lag_messages gauge')
  expect(text).toContain('# TYPE tributary_ingest_lag_seconds gauge')
  const heads = text.match(/^# TYPE \S+/gm) ?? []
  expect(heads.length).toBeGreaterThan(50)
  expect(new Set(heads).size).toBe(heads.length)
})

describe('the public API port', () => {
  test('shows metrics only to localhost', async () => {
    const forwarded = await fetch(`${api}/metrics`, { headers: { 'x-forwarded-for': '203.0.113.9' } })
    expect(forwarded.status).toBe(401)
    expect(await forwarded.json()).toMatchObject({ error: { code: 'unauthorized' } })
  })
})

test('the operator port serves nothing else', async () => {
  const response = await fetch(`${ops}/links`)
  expect(response.status).toBe(404)
  expect(await response.text()).toMatch(/^This port serves only \/healthz, \/readyz, \/metrics/)
})

describe('an engine that is down', () => {
  test.each([
    ['PostgreSQL', 'postgres', { POSTGRES_URL: `postgres://u:s3cret@${closed}/x` }],
    ['ClickHouse', 'clickhouse', { CLICKHOUSE_URL: `http://u:s3cret@${closed}` }],
  ])('makes a worker that needs %s unready', async (_name, engine, urls) => {
    const platform = await openWith({ ...urls, OPS_PORT: '0' })
    await eventually(async () => expect(platform.valkey.status).toBe('ready'))
    const { status, body } = await readiness(platform)
    expect(status).toBe(503)
    expect(body.ready).toBe(false)
    expect(body.engines[engine]).toEqual({
      ok: false,
      needed: true,
      milliseconds: expect.any(Number),
      error: `connect ECONNREFUSED ${closed}`,
    })
    expect(Object.values(body.engines).filter((state) => !state.ok)).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain('s3cret')
  })

  test('is only reported if it is ClickHouse and the process is only an api', async () => {
    const platform = await openWith({ CLICKHOUSE_URL: `http://${closed}`, ROLES: 'api', OPS_PORT: '0' })
    const { status, body } = await readiness(platform)
    expect(status).toBe(200)
    expect(body).toMatchObject({ ready: true, engines: { clickhouse: { ok: false, needed: false } } })
    expect(body).not.toHaveProperty('partitions')
  })

  test('is only reported if it is Valkey', async () => {
    const platform = await openWith({ VALKEY_URL: `redis://${closed}`, OPS_PORT: '0' })
    const { status, body } = await readiness(platform)
    expect(status).toBe(200)
    expect(body).toMatchObject({ ready: true, engines: { valkey: { ok: false, needed: false } } })
  })

  test.each([
    ['worker', { clickhouse: 0, postgres: 1 }],
    ['redirect', { clickhouse: undefined, postgres: 1 }],
  ])('is in the metrics of a %s that uses it', async (role, expected) => {
    const platform = await openWith({ CLICKHOUSE_URL: `http://${closed}`, ROLES: role, OPS_PORT: '0' })
    const text = await figures(platform)
    for (const [engine, up] of Object.entries(expected)) {
      const [, reported] = text.match(new RegExp(`^tributary_engine_up\\{engine="${engine}"\\} (\\d)$`, 'm')) ?? []
      expect([engine, reported]).toEqual([engine, up === undefined ? undefined : String(up)])
    }
  })

  test('makes a worker unready until NATS reconnects', async () => {
    const engines = await startEngines({ only: ['nats'] })
    onTestFinished(() => engines.stop())
    const platform = await openWith({ ...engines.urls, OPS_PORT: '0' })
    expect((await readiness(platform)).status).toBe(200)
    await engines.processes.nats?.stop()
    const started = performance.now()
    const { status, body } = await readiness(platform)
    expect(performance.now() - started).toBeLessThan(2_000)
    expect(status).toBe(503)
    expect(body.engines.nats).toMatchObject({ ok: false, needed: true, error: expect.any(String) })
    await engines.processes.nats?.restart()
    await eventually(async () => expect((await readiness(platform)).status).toBe(200))
  })
})

/** Closed after each test, so that nothing pings databases that the test stops. */
async function openWith(overrides: Record<string, string>): Promise<Platform> {
  const platform = await openPlatform(readConfig({ ...inject('environment'), ...overrides }), openLog('silent'))
  onTestFinished(async () => {
    await platform[Symbol.asyncDispose]()
  })
  return platform
}

type Body = { ready: boolean; engines: Record<string, { ok: boolean; needed: boolean; error?: string }> }

async function readiness(platform: Platform): Promise<{ status: number; body: Body }> {
  await using listening = await startOps(platform, reportProcess(platform))
  const { status, body } = await get(`http://127.0.0.1:${listening.port}`, '/readyz')
  return { status, body: body as Body }
}

async function get(base: string, path: string) {
  const response = await fetch(base + path)
  return { status: response.status, type: response.headers.get('content-type'), body: await response.json() }
}
