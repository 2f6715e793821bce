import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { Session } from 'chdb'
import { quote } from './request.ts'

export type InsertResult = { rowsWritten: number; bytesWritten: number; elapsed: number }

export type Chdb = {
  version: string
  openSession(): Session
  /** Kills the query with this id, even one that starts late, until `ended` aborts. */
  killUntilEnded(queryId: string, ended: AbortSignal): Promise<void>
  close(): void
}

const killAgainAfterMs = 250

export function openChdb(path: string, connectionArguments: string[]): Chdb {
  const openSession = () => new Session(path, { connectionArgs: connectionArguments })
  // One session always stays open, because chdb shuts down with its last session.
  const firstSession = openSession()
  firstSession.query('CREATE DATABASE IF NOT EXISTS default', 'TabSeparated')

  return {
    version: firstSession.query('SELECT version()', 'TabSeparated').trim(),
    openSession,
    async killUntilEnded(queryId, ended) {
      while (!ended.aborted) {
        // chdb assigns its own query ids, so ours is in `log_comment`.
        const statement = `KILL QUERY WHERE Settings['log_comment'] = ${quote(queryId)} ASYNC`
        await firstSession.queryAsync(statement, { format: 'TabSeparated' }).catch(() => {})
        await sleep(killAgainAfterMs)
      }
    },
    close: () => firstSession.close(),
  }
}

// Inserts rows with chdb's native call: its own insert() accepts only some formats and plain identifiers.
export function insertRows(session: Session, statement: string, rows: Buffer): Promise<InsertResult> {
  return native().InsertRawAsyncConnection(session.connection, statement, rows, false)
}

type Native = {
  InsertRawAsyncConnection(
    connection: unknown,
    statement: string,
    rows: Buffer,
    countLines: boolean,
  ): Promise<InsertResult>
}

const nativePackages: Record<string, string> = {
  'linux-x64': '@chdb/lib-linux-x64-gnu',
  'linux-arm64': '@chdb/lib-linux-arm64-gnu',
  'darwin-x64': '@chdb/lib-darwin-x64',
  'darwin-arm64': '@chdb/lib-darwin-arm64',
}

let loadedNative: Native | undefined

function native(): Native {
  loadedNative ??= loadNative()
  return loadedNative
}

function loadNative(): Native {
  const platform = `${process.platform}-${process.arch}`
  const nativePackage = nativePackages[platform]
  if (!nativePackage) throw new Error(`chdb has no build for ${platform}; set CLICKHOUSE_URL to a ClickHouse server`)
  return createRequire(import.meta.resolve('chdb'))(nativePackage)
}
