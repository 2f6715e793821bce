import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { QueryRequest } from './request.ts'

type Progress = {
  rowsRead?: number
  bytesRead?: number
  rowsWritten?: number
  bytesWritten?: number
  elapsed?: number
}

export function databaseError(code: number, name: string, message: string): Error {
  return new Error(`Code: ${code}. DB::Exception: ${message} (${name})`)
}

export async function sendWhole(response: ServerResponse, query: QueryRequest, progress: Progress, bytes: Uint8Array) {
  response.setHeader('X-ClickHouse-Summary', formatSummary(progress))
  await send(response, query, [bytes])
}

// Streams a result. An error in the first chunk becomes an HTTP status, a later one is in the body, as in ClickHouse.
export async function sendStream(
  response: ServerResponse,
  query: QueryRequest,
  pieces: AsyncIterable<Uint8Array>,
  version: string,
) {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  const tag = randomBytes(8).toString('hex')
  response.setHeader('X-ClickHouse-Exception-Tag', tag)
  await send(response, query, first.done ? [] : readRest(first.value, iterator, tag, version))
}

export function sendError(response: ServerResponse, error: unknown, version: string): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const text = errorText(error, version)
  const code = Number(/^Code: (\d+)/.exec(text)?.[1])
  response.statusCode = findStatus(code)
  response.removeHeader('X-ClickHouse-Summary')
  response.removeHeader('Content-Encoding')
  response.setHeader('X-ClickHouse-Exception-Code', code)
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  response.end(`${text}\n`)
}

const contentTypes: Record<string, string> = {
  JSON: 'application/json; charset=UTF-8',
  JSONCompact: 'application/json; charset=UTF-8',
  JSONEachRow: 'application/x-ndjson; charset=UTF-8',
  JSONCompactEachRow: 'application/x-ndjson; charset=UTF-8',
  CSV: 'text/csv; charset=UTF-8; header=absent',
  CSVWithNames: 'text/csv; charset=UTF-8; header=present',
  TabSeparated: 'text/tab-separated-values; charset=UTF-8',
}

async function send(
  response: ServerResponse,
  query: QueryRequest,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
) {
  response.setHeader('Content-Type', contentTypes[query.format] ?? 'text/plain; charset=UTF-8')
  response.setHeader('X-ClickHouse-Format', query.format)
  if (query.acceptsGzip) response.setHeader('Content-Encoding', 'gzip')
  const encoders: Transform[] = query.acceptsGzip ? [createGzip({ level: 1 })] : []
  await pipeline([Readable.from(pieces, { objectMode: false }), ...encoders, response])
}

async function* readRest(first: Uint8Array, rest: AsyncIterator<Uint8Array>, tag: string, version: string) {
  try {
    yield first
    for (let piece = await rest.next(); !piece.done; piece = await rest.next()) yield piece.value
  } catch (error) {
    const text = `${errorText(error, version)}\n`
    const trailer = `${text}${Buffer.byteLength(text)} ${tag}`
    // The client looks for the error in the last chunk, so it is sent apart from the rows.
    await sleep(20)
    yield Buffer.from(`\r\n__exception__\r\n${tag}\r\n${trailer}\r\n__exception__\r\n`)
  } finally {
    await rest.return?.()
  }
}

function formatSummary(progress: Progress): string {
  return JSON.stringify({
    read_rows: String(progress.rowsRead ?? 0),
    read_bytes: String(progress.bytesRead ?? 0),
    written_rows: String(progress.rowsWritten ?? 0),
    written_bytes: String(progress.bytesWritten ?? 0),
    total_rows_to_read: '0',
    result_rows: '0',
    result_bytes: '0',
    elapsed_ns: String(Math.round((progress.elapsed ?? 0) * 1e9)),
  })
}

function errorText(error: unknown, version: string): string {
  const message = (error instanceof Error ? error.message : String(error)).trim()
  const start = message.indexOf('Code: ')
  const text = start >= 0 ? message.slice(start) : `Code: 1002. DB::Exception: ${message} (UNKNOWN_EXCEPTION)`
  return text.includes('(version ') ? text : `${text} (version ${version})`
}

// HTTP statuses of ClickHouse error codes; all other codes give 500.
const codesOfStatus: Record<number, number[]> = {
  400: [6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676],
  401: [194],
  403: [192, 193, 497, 516],
  404: [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511],
  408: [159],
  413: [229],
  501: [48],
  503: [76, 202, 209, 439],
}

function findStatus(code: number): number {
  for (const [status, codes] of Object.entries(codesOfStatus)) {
    if (codes.includes(code)) return Number(status)
  }
  return 500
}
