import { expect, inject, onTestFinished, test } from 'vitest'
import { freePort } from '../../../engines/port.ts'
import { eventually, openTestPlatform } from '../../test/stack.ts'
import { readAttributes, startCollector } from '../../test/traces/collector.ts'
import { readConfig } from './config.ts'
import { openLog } from './log.ts'
import { openMetrics } from './metrics.ts'
import { openOtlp } from './otlp.ts'

async function open(url: string, given: Record<string, string> = {}) {
  const config = readConfig({ ...inject('environment'), OTEL_EXPORTER_OTLP_ENDPOINT: url, ...given })
  const metrics = openMetrics()
  const lines: string[] = []
  const log = openLog('warn', { write: (line) => void lines.push(line) })
  const tracing = openOtlp({ config, log, metrics })
  const countSpans = async (outcome: string) =>
    (await metrics.spans.get()).values.find(({ labels }) => labels.outcome === outcome)?.value ?? 0
  const work = async (name: string) =>
    tracing.span(
      { name, kind: 'server', begins: true, attributes: { text: 'ä', whole: 7, part: 0.5, yes: true } },
      async (span) => {
        if (span && name === 'broken') span.problem = 'no room'
      },
    )
  return { tracing, lines, countSpans, work }
}

test('spans arrive in OTLP format with the configured headers', async () => {
  const collector = await startCollector()
  onTestFinished(() => collector[Symbol.asyncDispose]())
  const { tracing, work, countSpans } = await open(`${collector.url}/`, {
    OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,Authorization=Basic%20eA%3D%3D',
    OTEL_SERVICE_NAME: 'shop-links',
  })
  await work('good')
  await work('broken')
  await tracing[Symbol.asyncDispose]()
  expect(collector.requests).toMatchObject([
    {
      path: '/v1/traces',
      headers: { 'x-key': 'a b', authorization: 'Basic eA==', 'content-type': 'application/json' },
    },
  ])
  const [good, broken] = collector.spans
  expect(good?.traceId).toMatch(/^[\da-f]{32}$/)
  expect(good?.spanId).toMatch(/^[\da-f]{16}$/)
  expect(good).toMatchObject({ name: 'good', kind: 2, resource: { 'service.name': 'shop-links' } })
  expect(good).not.toHaveProperty('status')
  expect(good?.attributes).toEqual([
    { key: 'text', value: { stringValue: 'ä' } },
    { key: 'whole', value: { intValue: '7' } },
    { key: 'part', value: { doubleValue: 0.5 } },
    { key: 'yes', value: { boolValue: true } },
  ])
  expect(readAttributes(good as typeof good & object)).toHaveProperty('whole', '7')
  expect(Math.abs(Number(BigInt(good?.endTimeUnixNano ?? 0) / 1_000_000n) - Date.now())).toBeLessThan(60_000)
  expect(broken?.status).toEqual({ code: 2, message: 'no room' })
  expect(await countSpans('sent')).toBe(2)
})

test('a collector that was down gets the buffered spans when it is up again', async () => {
  const port = await freePort()
  const { tracing, work, lines, countSpans } = await open(`http://127.0.0.1:${port}`)
  await work('early')
  await eventually(async () => expect(lines.join()).toContain('collector is unreachable'))
  const collector = await startCollector(port)
  onTestFinished(() => collector[Symbol.asyncDispose]())
  await work('late')
  await eventually(async () => expect(collector.spans.map(({ name }) => name)).toEqual(['early', 'late']))
  expect(await countSpans('dropped')).toBe(0)
  await tracing[Symbol.asyncDispose]()
})

test('spans that the collector refuses permanently, or above the buffer limit, are dropped', async () => {
  const collector = await startCollector()
  onTestFinished(() => collector[Symbol.asyncDispose]())
  const { tracing, work, lines, countSpans } = await open(collector.url)
  collector.status = 400
  await work('refused')
  await eventually(async () => expect(await countSpans('dropped')).toBe(1))
  expect(lines.join()).toContain('collector refused spans')
  collector.status = 503
  for (let span = 0; span < 9_000; span++) await work('many')
  expect(await countSpans('dropped')).toBe(1 + 9_000 - 8_192)
  collector.status = 200
  await eventually(async () => expect(collector.spans).toHaveLength(8_192))
  await tracing[Symbol.asyncDispose]()
})

test('without a collector tracing is off, and malformed headers are rejected without showing them', async () => {
  const platform = await openTestPlatform()
  expect(platform.tracing).toBeUndefined()
  const read = () => readConfig({ ...inject('environment'), OTEL_EXPORTER_OTLP_HEADERS: 's3cret' })
  expect(read).toThrow(/OTEL_EXPORTER_OTLP_HEADERS: each part must be name=value/)
  expect(read).not.toThrow(/s3cret/)
})
