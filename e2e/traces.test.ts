import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { type ReceivedSpan, readAttributes, startCollector } from '../server/test/traces/collector.ts'

// Uses private databases, because the relay and worker of the shared server do not trace.
const engines = await startEngines({ only: ['nats', 'clickhouse', 'valkey'] })
const collector = await startCollector()
const { POSTGRES_URL = '', ...shared } = inject('environment')
const environment = {
  ...shared,
  ...engines.urls,
  POSTGRES_URL: await createDatabase(POSTGRES_URL, `traces_${Date.now()}`),
}
const platform = await openTestPlatform(environment)
await migrate(platform.config, platform.clickhouse, () => {})
const traced = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }
const worker = await startServer({ ...traced, ROLES: 'worker' })
const api = await startServer({ ...traced, ROLES: 'api' })
const workspace = await buildWorkspace(platform)
afterAll(async () => {
  await api.stop()
  await worker.stop()
  await collector[Symbol.asyncDispose]()
  await engines.stop()
})

const callerTrace = '0af7651916cd43dd8448eb211c80319c'
const callerSpan = 'b7ad6b7169203331'

test('a new link is one trace: the request, its statement, the relay and the job', async () => {
  const response = await createLink({ traceparent: `00-${callerTrace}-${callerSpan}-01` })
  expect(response.status).toBe(200)
  const job = await eventually(async () => {
    const found = findSpans(callerTrace).find(({ name }) => name === 'job keep-link-attributes')
    expect(found).toBeDefined()
    return found as ReceivedSpan
  }, 30_000)
  const [request] = await eventually(async () => {
    const found = named('POST /links')
    expect(found).toHaveLength(1)
    return found as [ReceivedSpan]
  }, 30_000)
  const relay = findSpans(callerTrace).find(({ spanId }) => spanId === job.parentSpanId) as ReceivedSpan

  expect(request).toMatchObject({ parentSpanId: callerSpan, kind: 2, resource: { 'tributary.roles': 'api' } })
  expect(readAttributes(request)).toMatchObject({
    'http.route': '/links',
    'http.response.status_code': '200',
    'tributary.request_id': response.headers.get('x-request-id'),
  })
  expect(relay).toMatchObject({ name: 'relay', kind: 4, parentSpanId: request.spanId })
  expect(job).toMatchObject({ kind: 5, resource: { 'tributary.roles': 'worker' } })
  expect(statementsBelow(request)).toContainEqual(expect.stringMatching(/INSERT INTO links/))
  expect(statementsBelow(job)).toContainEqual(expect.stringMatching(/^INSERT INTO link_attributes/))
})

test('traces contain neither request data nor the actor', async () => {
  const secret = 'https://shop.example/of-jane-doe'
  const response = await createLink({}, { url: secret, externalId: 'jane-doe' })
  const requestId = response.headers.get('x-request-id')
  const request = await eventually(async () => {
    const found = collector.spans.find((span) => readAttributes(span)['tributary.request_id'] === requestId)
    expect(found).toBeDefined()
    return found as ReceivedSpan
  })
  await eventually(async () => {
    expect(findSpans(request.traceId).map(({ name }) => name)).toContain('job keep-link-attributes')
  }, 30_000)
  expect(JSON.stringify(findSpans(request.traceId))).not.toMatch(/jane|trib_|Bearer/i)
})

test('traces of a failed request contain neither request data nor the actor', async () => {
  const traceId = 'e'.repeat(32)
  const traceparent = `00-${traceId}-${callerSpan}-01`
  const link = { url: 'https://shop.example/jane-doe', key: 'jane-doe' }
  expect((await createLink({}, link)).status).toBe(200)
  expect((await createLink({ traceparent }, link)).status).toBe(409)
  await eventually(async () => {
    expect(findSpans(traceId)).toContainEqual(expect.objectContaining({ name: 'POST /links' }))
  })
  const failed = findSpans(traceId).filter((span) => 'status' in span)
  expect(failed.length).toBeGreaterThan(0)
  expect(JSON.stringify(findSpans(traceId))).not.toMatch(/jane/i)
})

test('a failed request is recorded as an error in its trace, a rejected one is not', async () => {
  const traceId = 'c'.repeat(32)
  const response = await createLink({ traceparent: `00-${traceId}-${callerSpan}-01` }, { url: 'no address' })
  expect(response.status).toBe(422)
  await eventually(async () => {
    expect(findSpans(traceId)).toContainEqual(expect.objectContaining({ name: 'POST /links' }))
  })
  const [request] = findSpans(traceId).filter(({ name }) => name === 'POST /links')
  expect(request).not.toHaveProperty('status')
})

test('the last spans of a process that stops are sent', async () => {
  const another = await startServer({ ...traced, ROLES: 'api' })
  const traceId = 'd'.repeat(32)
  await fetch(`${another.api}/links`, { headers: { traceparent: `00-${traceId}-${callerSpan}-01` } })
  expect(await another.stop()).toBe(0)
  expect(findSpans(traceId).map(({ name }) => name)).toContain('GET /links')
})

function createLink(headers: Record<string, string>, body: object = { url: 'https://shop.example/' }) {
  return fetch(`${api.api}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ domain: workspace.domain, ...body }),
  })
}

function findSpans(traceId: string): ReceivedSpan[] {
  return collector.spans.filter((span) => span.traceId === traceId)
}

function named(name: string): ReceivedSpan[] {
  return findSpans(callerTrace).filter((span) => span.name === name)
}

function statementsBelow({ traceId, spanId }: ReceivedSpan): unknown[] {
  return findSpans(traceId)
    .filter(({ parentSpanId }) => parentSpanId === spanId)
    .map((span) => readAttributes(span)['db.query.text'])
}
