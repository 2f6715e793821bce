import { execFile } from 'node:child_process'
import { access, chown } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { EngineProgram, Log } from './engine-process.ts'
import { type PostgresBinaries, unprivilegedUser, usableBinaries } from './postgres-binaries.ts'
import type { SystemUser } from './programs.ts'

const run = promisify(execFile)

export async function preparePostgres(folder: string, port: number, log: Log): Promise<EngineProgram> {
  const user = await unprivilegedUser()
  if (user) {
    await chown(folder, user.uid, user.gid)
    await requireEntry(folder, user)
  }
  const binaries = await usableBinaries(folder, user, log)
  const dataFolder = join(folder, 'data')
  await initialise(binaries, dataFolder, user)
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  return {
    name: 'postgres',
    url,
    folder,
    command: join(binaries.folder, 'postgres'),
    args: ['-D', dataFolder, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])],
    user,
    // SIGINT is the fast shutdown; SIGTERM would wait for every client to disconnect.
    stopSignal: 'SIGINT',
    answers: () => query(url, 'select 1').then(() => {}),
  }
}

/** Creates an empty PostgreSQL database on the server of `postgresUrl`; returns its URL. */
export async function createDatabase(postgresUrl: string, name: string): Promise<string> {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(name)) {
    throw new Error(
      `${JSON.stringify(name)} is not a database name: use up to 63 of a-z, 0-9 and _, and begin with a letter`,
    )
  }
  await query(postgresUrl, `create database "${name}" template template0`)
  const url = new URL(postgresUrl)
  url.pathname = `/${name}`
  return url.href
}

export async function requireTrigrams(url: string): Promise<void> {
  const found = await query(url, "select 1 from pg_available_extensions where name = 'pg_trgm'")
  if (found.rowCount === 0) {
    throw new Error('postgres: the extension pg_trgm is missing; install the Debian package `postgresql-contrib`')
  }
}

const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
  'fsync=on',
]

async function initialise({ folder, majorVersion }: PostgresBinaries, dataFolder: string, user?: SystemUser) {
  if (await exists(join(dataFolder, 'PG_VERSION'))) return
  const locale =
    majorVersion >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C.UTF-8']
  const options = [
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    ...locale,
    '--no-sync',
    '--no-instructions',
  ]
  await run(join(folder, 'initdb'), [...options, '-D', dataFolder], {
    cwd: '/',
    // Without TZ, initdb compares the system clock with every time zone, which is slow.
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
    uid: user?.uid,
    gid: user?.gid,
    timeout: 60_000,
  }).catch((error) => {
    throw new Error(`postgres: initdb could not create ${dataFolder}\n${error.stdout}${error.stderr}`, { cause: error })
  })
}

async function requireEntry(folder: string, user: SystemUser): Promise<void> {
  await run('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { cwd: '/', uid: user.uid, gid: user.gid }).catch(() => {
    throw new Error(
      `postgres: the user ${user.name} may not enter ${folder}; allow it with chmod o+x on the folders above, or use a folder below /tmp (for temporary data: TMPDIR=/tmp)`,
    )
  })
}

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 })
  // The failing query reports a broken connection.
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
