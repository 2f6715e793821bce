import { createServer } from 'node:http'
import { listen } from '../../src/platform/listen.ts'

export type ReceivedSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: { key: string; value: Record<string, unknown> }[]
  links?: { traceId: string; spanId: string }[]
  status?: { code: number; message: string }
  /** Resource attributes of the sending process. */
  resource: Record<string, unknown>
}
type Body = {
  resourceSpans: {
    resource: Pick<ReceivedSpan, 'attributes'>
    scopeSpans: { spans: Omit<ReceivedSpan, 'resource'>[] }[]
  }[]
}
export type Collector = AsyncDisposable & {
  url: string
  spans: ReceivedSpan[]
  requests: { path: string; headers: Record<string, unknown> }[]
  /** HTTP status of the next responses. */
  status: number
}

/** Starts a collector that receives traces as OTLP over HTTP with JSON. */
export async function startCollector(port = 0): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    collector.requests.push({ path: request.url ?? '', headers: request.headers })
    if (collector.status < 400) collector.spans.push(...listSpans(JSON.parse(Buffer.concat(chunks).toString())))
    response.writeHead(collector.status, { 'content-type': 'application/json' }).end('{}')
  })
  const listening = await listen(server, '127.0.0.1', port)
  const collector: Collector = {
    url: `http://127.0.0.1:${listening.port}`,
    spans: [],
    requests: [],
    status: 200,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  }
  return collector
}

export function readAttributes({ attributes }: Pick<ReceivedSpan, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

function listSpans({ resourceSpans }: Body): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, resource: readAttributes(resource) }))),
  )
}
