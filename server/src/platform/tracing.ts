import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'

export type Attributes = Record<string, string | number | boolean>
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'
type SpanInput = {
  name: string
  kind: SpanKind
  attributes?: Attributes
  /** W3C `traceparent` values. Without them the current span is the parent; without a current span, no span is created. */
  parents?: string[]
  /** Whether the span may start a new trace. */
  begins?: true
}
export type Span = { traceparent: string; attributes: Attributes; problem?: string }
export type EndedSpan = {
  traceId: string
  spanId: string
  parentId?: string
  /** A span of another trace that covers the same work. */
  linkTo?: SpanContext
  name: string
  kind: SpanKind
  startMs: number
  endMs: number
  attributes: Attributes
  problem?: string
}
type SpanContext = { traceId: string; spanId: string; isSampled: boolean }

export type Tracing = {
  /** Runs `work` in a span. With several parents each gets a span, and spans inside `work` are children of the first. */
  span<T>(input: SpanInput, work: (span?: Span) => Promise<T>): Promise<T>
  /** Records a finished child of the current span. */
  ended(input: Omit<SpanInput, 'parents' | 'begins'> & { durationMs: number; problem?: string }): void
  /** Returns the current span's `traceparent`, to pass to another process. */
  traceparent(): string | undefined
}

/** Runs `work` in a span, or without one if tracing is off. */
export function traced<T>(
  { tracing }: { tracing?: Tracing },
  input: SpanInput,
  work: (span?: Span) => Promise<T>,
): Promise<T> {
  return tracing ? tracing.span(input, work) : work()
}

/** Returns the error's type or code. Its message, which may contain personal data, is only logged. */
export function describeProblem(error: unknown): string {
  const { type, code, name } = error as { type?: unknown; code?: unknown; name?: unknown }
  return String(type ?? code ?? name ?? 'Error')
}

type RequestInput = { id: string; method: string; path: string; requestId: string; traceparent?: string }

/** Traces an HTTP request. Records the route pattern, not the URL, which may contain personal data. */
export function tracedRequest<R extends { status: number }>(
  { tracing }: { tracing?: Tracing },
  { id, method, path, requestId, traceparent = '' }: RequestInput,
  respond: () => Promise<R>,
): Promise<R> {
  if (!tracing) return respond()
  const verb = method.toUpperCase()
  const attributes = {
    'http.request.method': verb,
    'http.route': path,
    'tributary.operation': id,
    'tributary.request_id': requestId,
  }
  const input = { name: `${verb} ${path}`, parents: [traceparent], attributes }
  return tracing.span({ ...input, kind: 'server', begins: true }, async (span) => {
    const response = await respond()
    if (!span) return response
    span.attributes['http.response.status_code'] = response.status
    if (response.status >= 500) span.problem = `status ${response.status}`
    return response
  })
}

/** Samples whole traces by trace id, so that every process decides alike. */
export function openTracing(sampleRatio: number, take: (span: EndedSpan) => void): Tracing {
  const open = new AsyncLocalStorage<SpanContext>()

  function spanContexts({ parents, begins }: SpanInput): [parent: SpanContext | undefined, own: SpanContext][] {
    const given = parents?.flatMap((text) => parseTraceparent(text) ?? []) ?? []
    const current = open.getStore()
    const above = given.length > 0 || !current ? given : [current]
    if (above.length > 0) {
      // The caller's `traceparent` may lower the sample rate, not raise it.
      const isTaken = ({ traceId, isSampled }: SpanContext) => isSampled && (!begins || isInShare(traceId, sampleRatio))
      return above.map((parent) => [parent, { ...parent, spanId: newId(8), isSampled: isTaken(parent) }])
    }
    if (!begins) return []
    const traceId = newId(16)
    return [[undefined, { traceId, spanId: newId(8), isSampled: isInShare(traceId, sampleRatio) }]]
  }

  return {
    async span(input, work) {
      const contexts = spanContexts(input).filter(([, own]) => own.isSampled || input.begins)
      const [first] = contexts
      if (!first) return work()
      const span: Span = { traceparent: formatTraceparent(first[1]), attributes: { ...input.attributes } }
      const startMs = nowMs()
      try {
        return await open.run(first[1], () => work(span))
      } catch (error) {
        span.problem ??= describeProblem(error)
        throw error
      } finally {
        const { name, kind } = input
        const shared = { name, kind, startMs, endMs: nowMs(), attributes: span.attributes, problem: span.problem }
        for (const [parent, { traceId, spanId, isSampled }] of contexts) {
          const linkTo = spanId === first[1].spanId ? undefined : first[1]
          if (isSampled) take({ traceId, spanId, parentId: parent?.spanId, linkTo, ...shared })
        }
      }
    },
    ended({ durationMs, attributes = {}, ...input }) {
      const parent = open.getStore()
      if (!parent?.isSampled) return
      const endMs = nowMs()
      const { traceId, spanId: parentId } = parent
      take({ traceId, spanId: newId(8), parentId, startMs: endMs - durationMs, endMs, attributes, ...input })
    },
    traceparent() {
      const current = open.getStore()
      return current?.isSampled ? formatTraceparent(current) : undefined
    },
  }
}

function parseTraceparent(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})\b/.exec(traceparent) ?? []
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

function formatTraceparent({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Whether a trace is sampled, by the last seven bytes of its id, which W3C defines as random. */
function isInShare(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-14), 16) / 2 ** 56 < ratio
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}

function nowMs(): number {
  return performance.timeOrigin + performance.now()
}
