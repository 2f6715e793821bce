import { randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { databaseError } from './answer.ts'
import type { Spool, SpooledRows } from './spool.ts'

export type QueryRequest = {
  queryId: string
  sql: string
  /** The rows of `INSERT INTO … FORMAT …`; undefined for all other statements. */
  rows: SpooledRows | undefined
  format: string
  /** USE and SET statements with the database, settings and query parameters of the request. */
  preamble: string
  waitForEnd: boolean
  acceptsGzip: boolean
}

export type Credentials = { user: string; password: string }

export async function readQueryRequest(
  request: IncomingMessage,
  parameters: URLSearchParams,
  spool: Spool,
): Promise<QueryRequest> {
  const { sql, rows } = await readStatement(request, parameters, spool)
  const queryId = parameters.get('query_id') || randomUUID()
  return {
    queryId,
    sql,
    rows,
    format: findFormat(sql, request, parameters),
    preamble: buildPreamble(request, parameters, queryId),
    waitForEnd: parameters.get('wait_end_of_query') === '1',
    acceptsGzip:
      parameters.get('enable_http_compression') === '1' &&
      /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? '')),
  }
}

export function requireCredentials(request: IncomingMessage, parameters: URLSearchParams, expected: Credentials): void {
  const given = readCredentials(request, parameters)
  const givenBytes = Buffer.from(`${given.user}\0${given.password}`)
  const expectedBytes = Buffer.from(`${expected.user}\0${expected.password}`)
  if (givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes)) return
  throw databaseError(
    516,
    'AUTHENTICATION_FAILED',
    `${given.user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  )
}

const escapes: Record<string, string> = { '\\': '\\\\', "'": "\\'", '\0': '\\0' }

export function quote(text: string): string {
  return `'${text.replace(/[\\'\0]/g, (character) => escapes[character] ?? character)}'`
}

function readCredentials(request: IncomingMessage, parameters: URLSearchParams): Credentials {
  const { authorization } = request.headers
  if (authorization?.startsWith('Basic ')) {
    const [user = '', ...password] = Buffer.from(authorization.slice(6), 'base64').toString().split(':')
    return { user, password: password.join(':') }
  }
  return {
    user: readHeader(request, 'x-clickhouse-user') ?? parameters.get('user') ?? 'default',
    password: readHeader(request, 'x-clickhouse-key') ?? parameters.get('password') ?? '',
  }
}

async function readStatement(request: IncomingMessage, parameters: URLSearchParams, spool: Spool) {
  const body = decodeBody(request)
  const contentType = request.headers['content-type'] ?? ''
  if (contentType.startsWith('multipart/form-data')) {
    return { sql: await readForm(await readWhole(body), contentType, parameters), rows: undefined }
  }
  const sql = parameters.get('query') ?? ''
  if (insertWithRows.test(sql)) return { sql, rows: await spool.write(body) }
  return { sql: [sql, (await readWhole(body)).toString('utf8')].filter(Boolean).join('\n'), rows: undefined }
}

const insertWithRows = /^(\s*INSERT\s+INTO\s[\s\S]*?)(\sSETTINGS\s[^)]*)?(\sFORMAT\s+\w+)\s*;?\s*$/i

/** The statement of an insert whose rows are in a file. */
export function insertFromFile(sql: string, file: string): string {
  const [, insert, settings = '', format] = insertWithRows.exec(sql) ?? []
  return `${insert} FROM INFILE ${quote(file)}${settings}${format}`
}

// Parses a multipart form: the client sends statement and parameters this way when they are too long for the URL.
async function readForm(body: Buffer, contentType: string, parameters: URLSearchParams): Promise<string> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData()
  for (const [name, value] of form) {
    if (name.startsWith('param_')) parameters.set(name, String(value))
  }
  return String(form.get('query') ?? parameters.get('query') ?? '')
}

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

function decodeBody(request: IncomingMessage): Readable {
  const decoder = decoders[String(request.headers['content-encoding'] ?? '').toLowerCase()]
  // `pipeline` forwards errors of the request and the decoder, so that the reader gets them.
  return decoder ? pipeline(request, decoder(), () => {}) : request
}

async function readWhole(body: Readable): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces)
}

function findFormat(sql: string, request: IncomingMessage, parameters: URLSearchParams): string {
  return (
    /\bFORMAT\s+(\w+)\s*;?\s*$/i.exec(sql)?.[1] ??
    parameters.get('default_format') ??
    readHeader(request, 'x-clickhouse-format') ??
    'TabSeparated'
  )
}

// URL parameters of the HTTP interface itself; all others are settings or query parameters.
const interfaceParameters = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'user',
  'password',
  'role',
  'quota_key',
  'stacktrace',
  'compress',
  'decompress',
  'enable_http_compression',
  'http_zlib_compression_level',
  'wait_end_of_query',
  'buffer_size',
  'client_protocol_version',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
  'cancel_http_readonly_queries_on_client_close',
])

function buildPreamble(request: IncomingMessage, parameters: URLSearchParams, queryId: string): string {
  const settings: string[] = []
  for (const [name, value] of parameters) {
    if (interfaceParameters.has(name)) continue
    if (!/^[A-Za-z_]\w*$/.test(name)) throw databaseError(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'.`)
    settings.push(`${name} = ${quote(value)}`)
  }
  if (!parameters.has('log_comment')) settings.push(`log_comment = ${quote(queryId)}`)

  const database = parameters.get('database') ?? readHeader(request, 'x-clickhouse-database') ?? 'default'
  const use = database === 'default' ? '' : `USE \`${database.replace(/[`\\]/g, '')}\`; `
  return `${use}SET ${settings.join(', ')}`
}

function readHeader(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name]
  return Array.isArray(value) ? value[0] : value
}
