import { execFile } from 'node:child_process'
import { appendFile, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { preparePostgres } from '../../engines/postgres.ts'
import type { Command, Host } from './hosts.ts'

const run = promisify(execFile)

const settings = [
  'listen_addresses=*',
  // A commit waits until a standby has it on disk, whichever server is the primary.
  'synchronous_standby_names=*',
  'wal_keep_size=512MB',
  // A standby or primary that is silent is given up after seconds.
  'wal_sender_timeout=5s',
  'wal_receiver_timeout=5s',
]
const notCopied = ['postmaster.pid', 'postmaster.opts', 'standby.signal', 'backup_label']

/** Creates the data of the first primary; returns how to run PostgreSQL on a host with a folder. */
export async function preparePrimary(folder: string): Promise<(host: Host) => Command> {
  const data = join(folder, 'postgres-1')
  await mkdir(data, { recursive: true })
  const { command, args, user } = await preparePostgres(data, 5432, () => {})
  const rules = ['host all all 10.77.0.0/16 trust', 'host replication all 10.77.0.0/16 trust', '']
  await appendFile(join(data, 'data/pg_hba.conf'), rules.join('\n'))
  const given = [...args, ...settings.flatMap((setting) => ['-c', setting])]
  return ({ name }) => ({
    command,
    args: given.map((arg) => (arg === join(data, 'data') ? join(folder, name, 'data') : arg)),
    uid: user?.uid,
    gid: user?.gid,
  })
}

/** Copies a running primary to another host as its standby, as `pg_basebackup` does, which the packages lack. */
export async function copyToStandby(folder: string, primary: Host, standby: Host): Promise<void> {
  const [from, to] = [primary, standby].map(({ name }) => join(folder, name, 'data')) as [string, string]
  await rm(to, { recursive: true, force: true })
  await mkdir(join(folder, standby.name), { recursive: true })
  await using client = await openClient(primary)
  await client.query('select pg_backup_start($1, true)', [standby.name])
  // A running server removes files meanwhile, which the backup allows.
  await run('cp', ['-a', from, to]).catch(({ stderr }: { stderr: string }) => {
    const others = stderr.split('\n').filter((line) => line && !line.includes('No such file or directory'))
    if (others.length > 0) throw new Error(others.join('\n'))
  })
  for (const name of notCopied) await rm(join(to, name), { force: true })
  const stopped = await client.query('select labelfile from pg_backup_stop(false)')
  const { uid, gid } = await stat(to)
  for (const [name, text] of [['backup_label', stopped.rows[0].labelfile] as const, ['standby.signal', ''] as const]) {
    await writeFile(join(to, name), text)
    await chown(join(to, name), uid, gid)
  }
  const source = `host=${primary.address} port=5432 user=postgres application_name=${standby.name.replace('-', '_')}`
  await appendFile(join(to, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`)
}

export async function isInSync(primary: Host): Promise<boolean> {
  await using client = await openClient(primary)
  const found = await client.query(
    "select 1 from pg_stat_replication where sync_state = 'sync' and state = 'streaming'",
  )
  return found.rows.length > 0
}

export async function promote(standby: Host): Promise<void> {
  await using client = await openClient(standby)
  await client.query('select pg_promote(true, 60)')
}

export async function openClient({ address }: { address: string }): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({
    host: address,
    user: 'postgres',
    database: 'postgres',
    connectionTimeoutMillis: 2_000,
  })
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}
