import type { ServerResponse } from 'node:http'
import type { ChdbQueryStream, Session } from 'chdb'
import { sendStream, sendWhole } from './answer.ts'
import type { Chdb } from './chdb.ts'
import { insertFromFile, type QueryRequest } from './request.ts'
import type { SpooledRows } from './spool.ts'

// Runs a statement in its own chdb session, because a session runs one statement at a time and keeps its settings.
export async function execute(chdb: Chdb, query: QueryRequest, response: ServerResponse): Promise<void> {
  const ended = new AbortController()
  const session = chdb.openSession()
  response.once('close', () => {
    if (!response.writableFinished) void chdb.killUntilEnded(query.queryId, ended.signal)
  })
  try {
    if (query.rows) await insert(session, query, query.rows, response)
    else if (canStream(query)) await stream(session, query, response, chdb.version)
    else await runWhole(session, query, response)
  } finally {
    ended.abort()
    session.close()
  }
}

async function insert(session: Session, query: QueryRequest, rows: SpooledRows, response: ServerResponse) {
  if (rows.bytes === 0) return sendWhole(response, query, {}, Buffer.alloc(0))
  const statement = insertFromFile(query.sql, rows.file)
  const { rowsRead, bytesRead, elapsed } = await session.queryAsync(`${query.preamble}; ${statement}`)
  await sendWhole(response, query, { rowsWritten: rowsRead, bytesWritten: bytesRead, elapsed }, Buffer.alloc(0))
}

async function stream(session: Session, query: QueryRequest, response: ServerResponse, version: string) {
  // Applies the settings first, because chdb's stream call takes a single statement.
  await session.queryAsync(query.preamble, { format: 'TabSeparated' })
  await sendStream(response, query, readPieces(session.queryStream(query.sql, { format: query.format })), version)
}

async function runWhole(session: Session, query: QueryRequest, response: ServerResponse) {
  const result = await session.queryAsync(`${query.preamble}; ${query.sql}`, { format: query.format })
  await sendWhole(response, query, result, result.bytes())
}

async function* readPieces(rows: ChdbQueryStream) {
  for await (const chunk of rows) yield chunk.raw()
}

const streamableFormats = new Set([
  'JSONEachRow',
  'JSONCompactEachRow',
  'JSONStringsEachRow',
  'JSONCompactStringsEachRow',
  'CSV',
  'TabSeparated',
  'TSV',
  'TabSeparatedRaw',
])

// Only results without a limit are streamed: chdb plans a streamed statement, and runs its scalar subqueries, on the event loop.
function canStream({ sql, format, waitForEnd }: QueryRequest): boolean {
  const isSelect = /^\s*(?:--[^\n]*\n\s*)*(SELECT|WITH)\b/i.test(sql)
  const isSmall = /\bLIMIT\b/i.test(sql)
  const hasSubquery = /\(\s*(SELECT|WITH)\b/i.test(sql)
  return streamableFormats.has(format) && isSelect && !isSmall && !hasSubquery && !waitForEnd
}
