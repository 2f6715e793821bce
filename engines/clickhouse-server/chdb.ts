import { setTimeout as sleep } from 'node:timers/promises'
import { Session } from 'chdb'
import { quote } from './request.ts'

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
