import { sleep } from './clock.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import { type Attributes, type EndedSpan, openTracing, type SpanKind, type Tracing } from './tracing.ts'

type Handles = { config: Config; log: Log; metrics: Metrics }

const kinds: Record<SpanKind, number> = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 }
const failed = 2
const everyMs = 1_000
const timeoutMs = 10_000
const lastTryMs = 2_000
const mostAtOnce = 512
const mostWaiting = 8_192

/** Sends trace spans to a collector, as OTLP over HTTP with JSON. While the collector is down, spans are dropped. */
export function openOtlp({ config, log, metrics }: Handles): Tracing & AsyncDisposable {
  const url = `${config.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/+$/, '')}/v1/traces`
  const headers = { 'content-type': 'application/json', ...config.OTEL_EXPORTER_OTLP_HEADERS }
  const resource = {
    'service.name': config.OTEL_SERVICE_NAME,
    'service.instance.id': crypto.randomUUID(),
    'tributary.roles': config.ROLES.join(','),
  }
  const stopping = new AbortController()
  let waiting: EndedSpan[] = []
  let isDown = false

  function take(span: EndedSpan): void {
    if (waiting.length < mostWaiting) waiting.push(span)
    else metrics.spans.inc({ outcome: 'dropped' })
  }

  async function sendAll(withinMs: number): Promise<void> {
    while (waiting.length > 0) {
      const spans = waiting.slice(0, mostAtOnce)
      const problem = await send(spans, withinMs)
      if (problem?.isTemporary) {
        if (!isDown)
          log.warn({ url, error: problem.message }, 'collector is unreachable, buffering spans up to a limit')
        isDown = true
        return
      }
      waiting = waiting.slice(spans.length)
      metrics.spans.inc({ outcome: problem ? 'dropped' : 'sent' }, spans.length)
      if (problem) log.warn({ url, error: problem.message, spans: spans.length }, 'collector refused spans')
      else isDown = false
    }
  }

  async function send(
    spans: EndedSpan[],
    withinMs: number,
  ): Promise<{ message: string; isTemporary: boolean } | undefined> {
    try {
      const body = JSON.stringify(buildRequest(resource, spans))
      const answer = await fetch(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(withinMs) })
      await answer.arrayBuffer()
      if (answer.ok) return undefined
      return { message: `status ${answer.status}`, isTemporary: answer.status === 429 || answer.status >= 500 }
    } catch (error) {
      return { message: failureReason(error), isTemporary: true }
    }
  }

  async function sendInTurns(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(everyMs, stopping.signal)
      await sendAll(timeoutMs)
    }
  }

  const sending = sendInTurns()
  return {
    ...openTracing(config.OTEL_TRACES_SAMPLER_ARG, take),
    async [Symbol.asyncDispose]() {
      stopping.abort()
      const ended = new AbortController()
      await Promise.race([sending.then(() => ended.abort()), sleep(lastTryMs, ended.signal)])
      if (ended.signal.aborted) await sendAll(lastTryMs)
    },
  }
}

function buildRequest(resource: Attributes, spans: EndedSpan[]) {
  const scopeSpans = [{ scope: { name: 'tributary' }, spans: spans.map(formatSpan) }]
  return { resourceSpans: [{ resource: { attributes: formatAttributes(resource) }, scopeSpans }] }
}

function formatSpan({ traceId, spanId, parentId, linkTo, name, kind, startMs, endMs, attributes, problem }: EndedSpan) {
  return {
    traceId,
    spanId,
    ...(parentId && { parentSpanId: parentId }),
    name,
    kind: kinds[kind],
    startTimeUnixNano: formatNanos(startMs),
    endTimeUnixNano: formatNanos(endMs),
    attributes: formatAttributes(attributes),
    ...(linkTo && { links: [{ traceId: linkTo.traceId, spanId: linkTo.spanId }] }),
    ...(problem !== undefined && { status: { code: failed, message: problem } }),
  }
}

function formatAttributes(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: typedValue(value) }))
}

function typedValue(value: Attributes[string]) {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Formats nanoseconds as a string, as OTLP's JSON encodes 64-bit numbers. */
function formatNanos(timeMs: number): string {
  return `${Math.round(timeMs * 1_000)}000`
}

function failureReason(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? cause.message : message
}
