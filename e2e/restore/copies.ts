import { execFile } from 'node:child_process'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { EngineProcess } from '../../engines/engine-process.ts'
import { openConnection } from '../../server/src/platform/postgres.ts'

const run = promisify(execFile)

/** Copies PostgreSQL's data folder while PostgreSQL serves, as pg_basebackup does. */
export async function copyPostgres(url: string, data: string, copy: string): Promise<void> {
  const client = openConnection({ POSTGRES_URL: url })
  await client.connect()
  await client.query("SELECT pg_backup_start('restore test', true)")
  // Ignores files that PostgreSQL removes during the copy.
  await run('cp', ['-a', data, copy]).catch(() => {})
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
  await run('cp', ['-a', `${data}/pg_wal/.`, `${copy}/pg_wal`]).catch(() => {})
  await writeFile(join(copy, 'backup_label'), rows[0].labelfile)
  await run('chown', ['--reference', join(data, 'PG_VERSION'), join(copy, 'backup_label')])
  await rm(join(copy, 'postmaster.pid'), { force: true })
  await client.end()
}

/** Copies the NATS store while NATS is paused. */
export async function copyNats(engine: EngineProcess, store: string, copy: string): Promise<void> {
  await engine.stop()
  await run('cp', ['-a', store, copy])
  await engine.restart()
}

/** Kills a database or NATS and restarts it on an older copy of its data. */
export async function restoreCopy(engine: EngineProcess, data: string, copy: string): Promise<void> {
  engine.kill('SIGKILL')
  while (!engine.exited) await new Promise((resolve) => setTimeout(resolve, 20))
  await rename(data, `${copy}-replaced`)
  await rename(copy, data)
  await engine.restart()
}
