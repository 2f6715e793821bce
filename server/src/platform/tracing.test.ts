import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { conflict } from './errors.ts'
import { type EndedSpan, openTracing, traced, tracedRequest } from './tracing.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const caller = '00f067aa0ba902b7'
const sampled = `00-${traceId}-${caller}-01`
const asked = { id: 'createLink', method: 'post', path: '/links', requestId: 'r' }

function recording(sampleRatio = 1) {
  const spans: EndedSpan[] = []
  return { spans, tracing: openTracing(sampleRatio, (span) => spans.push(span)) }
}

describe('a request', () => {
  test('starts a trace, and nested work is part of it', async () => {
    const { spans, tracing } = recording()
    await tracedRequest({ tracing }, asked, () =>
      traced({ tracing }, { name: 'transaction', kind: 'client' }, async () => {
        tracing.ended({ name: 'postgresql insert', kind: 'client', durationMs: 2 })
        return { status: 201 }
      }),
    )
    const [statement, transaction, request] = spans
    expect(spans).toHaveLength(3)
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(1)
    expect(statement?.parentId).toBe(transaction?.spanId)
    expect(transaction?.parentId).toBe(request?.spanId)
    expect(request).toMatchObject({ name: 'POST /links', kind: 'server', parentId: undefined, problem: undefined })
    expect(request?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/links',
      'http.response.status_code': 201,
      'tributary.operation': 'createLink',
      'tributary.request_id': 'r',
    })
    expect(request?.endMs).toBeGreaterThanOrEqual(request?.startMs as number)
  })

  test("continues its caller's trace", async () => {
    const { spans, tracing } = recording()
    await tracedRequest({ tracing }, { ...asked, traceparent: sampled }, async () => ({ status: 500 }))
    expect(spans).toMatchObject([{ traceId, parentId: caller, problem: 'status 500' }])
  })

  test.each([
    ['not one', 'nonsense'],
    ['of an invalid version', `ff-${traceId}-${caller}-01`],
    ['of no trace', `00-${'0'.repeat(32)}-${caller}-01`],
    ['of no span', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['in capitals', sampled.toUpperCase()],
  ])('with a traceparent that is %s begins a new trace', async (_, traceparent) => {
    const { spans, tracing } = recording()
    await tracedRequest({ tracing }, { ...asked, traceparent }, async () => ({ status: 200 }))
    expect(spans).toMatchObject([{ parentId: undefined }])
    expect(spans[0]?.traceId).not.toBe(traceId)
  })

  test.each([
    ['the caller does not sample it', 1, `00-${traceId}-${caller}-00`],
    ['the sample ratio is 0', 0, undefined],
    ['the sample ratio is 0, whatever the caller says', 0, sampled],
  ])('records no span, not even nested spans, when %s', async (_, ratio, traceparent) => {
    const { spans, tracing } = recording(ratio)
    await tracedRequest({ tracing }, { ...asked, traceparent }, () =>
      traced({ tracing }, { name: 'transaction', kind: 'client' }, async () => {
        tracing.ended({ name: 'postgresql insert', kind: 'client', durationMs: 2 })
        expect(tracing.traceparent()).toBeUndefined()
        return { status: 200 }
      }),
    )
    expect(spans).toEqual([])
  })

  test('is sampled by its trace id, in the configured ratio', async () => {
    const { spans, tracing } = recording(0.25)
    for (let request = 0; request < 2_000; request++) {
      await tracedRequest({ tracing }, asked, async () => ({ status: 200 }))
    }
    expect(spans.length).toBeGreaterThan(350)
    expect(spans.length).toBeLessThan(650)
  })
})

describe('messages', () => {
  test('carry the trace to another process', async () => {
    const [sender, receiver] = [recording(), recording()]
    let header: string | undefined
    await tracedRequest(sender, asked, async () => {
      header = sender.tracing.traceparent()
      return { status: 200 }
    })
    await traced(receiver, { name: 'job', kind: 'consumer', parents: [header as string] }, async () => {})
    expect(receiver.spans).toMatchObject([{ traceId: sender.spans[0]?.traceId, parentId: sender.spans[0]?.spanId }])
  })

  test('of several traces that are handled together get a span each; all link to the first', async () => {
    const { spans, tracing } = recording()
    const other = `00-${'a'.repeat(32)}-${caller}-01`
    await traced({ tracing }, { name: 'job', kind: 'consumer', parents: [sampled, other] }, async () => {
      tracing.ended({ name: 'clickhouse insert', kind: 'client', durationMs: 1 })
    })
    const [statement, first, second] = spans
    expect(statement).toMatchObject({ traceId, parentId: first?.spanId })
    expect(first).toMatchObject({ traceId, parentId: caller, linkTo: undefined })
    expect(second).toMatchObject({ traceId: 'a'.repeat(32), linkTo: { traceId, spanId: first?.spanId } })
  })

  test('without a trace start none', async () => {
    const { spans, tracing } = recording()
    expect(await traced({ tracing }, { name: 'job', kind: 'consumer', parents: [] }, async () => 'done')).toBe('done')
    expect(spans).toEqual([])
  })
})

test.each([
  [new TypeError('of jane'), 'TypeError'],
  [conflict('jane is taken'), 'conflict'],
  [Object.assign(new Error('Key (jane) exists'), { code: '23505' }), '23505'],
  [Object.assign(new Error("Cannot parse 'jane'"), { code: '62', type: 'SYNTAX_ERROR' }), 'SYNTAX_ERROR'],
])('an error is rethrown and recorded by its type, since its message may be personal data', async (error, problem) => {
  const { spans, tracing } = recording()
  const input = { name: 'job', kind: 'consumer' as const, parents: [sampled] }
  await expect(traced({ tracing }, input, () => Promise.reject(error))).rejects.toBe(error)
  expect(spans).toMatchObject([{ problem }])
})

test('without tracing the work just runs', async () => {
  expect(await traced({}, { name: 'job', kind: 'consumer' }, async (span) => span)).toBeUndefined()
  expect(await tracedRequest({}, asked, async () => ({ status: 204 }))).toEqual({ status: 204 })
})

test('no traceparent value makes a request fail', async () => {
  const { tracing } = recording()
  const header = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('0', 'f', '-', 'G'), maxLength: 60 }))
  await fc.assert(
    fc.asyncProperty(header, async (traceparent) => {
      const answer = await tracedRequest({ tracing }, { ...asked, traceparent }, async () => ({ status: 200 }))
      expect(answer).toEqual({ status: 200 })
    }),
  )
})
