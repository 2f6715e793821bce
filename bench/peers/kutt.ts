import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { freePort } from '../../engines/port.ts'
import { createDatabase } from '../../engines/postgres.ts'
import { sleep } from '../../server/src/platform/clock.ts'

export type Peer = {
  url: string
  host: string
  /** The path of a link for redirects. */
  path: string
  create: { path: string; headers: Record<string, string>; body: (number: number) => string }
  countLinks(): Promise<number>
  stop(): Promise<void>
}

const host = 'kutt.localhost'
const key = 'benchkey'

/** Starts Kutt from a folder with its source and packages, on databases of its own in our engines. */
export async function startKutt(folder: string, engines: { POSTGRES_URL: string; VALKEY_URL: string }): Promise<Peer> {
  const [port, database] = [await freePort(), new URL(await createDatabase(engines.POSTGRES_URL, 'kutt'))]
  const env = {
    PATH: process.env.PATH,
    PORT: String(port),
    DEFAULT_DOMAIN: host,
    JWT_SECRET: 'a text of at least thirty-two characters',
    ...{ DB_CLIENT: 'pg', DB_HOST: database.hostname, DB_PORT: database.port, DB_NAME: 'kutt', DB_USER: 'postgres' },
    ...{
      DB_PASSWORD: 'none',
      REDIS_ENABLED: 'true',
      REDIS_PORT: new URL(engines.VALKEY_URL).port,
      NODE_ENV: 'production',
    },
  }
  await promisify(execFile)(join(folder, 'node_modules/.bin/knex'), ['migrate:latest'], { cwd: folder, env })
  const db = new pg.Client(database.href)
  await db.connect()
  await db.query(`INSERT INTO users (email, password, role, verified, apikey)
    VALUES ('bench@example.com', 'none', 'ADMIN', true, '${key}')`)
  await db.query(
    `INSERT INTO links (address, target, user_id) SELECT 'hot', 'https://example.com/landing', id FROM users`,
  )
  // Its own process group, because Kutt starts processes that do not end with it.
  const options = { cwd: folder, env, stdio: 'ignore', detached: true } as const
  const child = spawn(process.execPath, ['server/server.js', '--production'], options)
  const url = `http://127.0.0.1:${port}`
  await untilReady(child, url)
  return {
    url,
    host,
    path: '/hot',
    create: {
      path: '/api/v2/links',
      headers: { 'X-API-KEY': key },
      // It looks up the host of a destination, so the destination has an address.
      body: (number) => JSON.stringify({ target: `https://93.184.215.14/page-${number}` }),
    },
    countLinks: async () => Number((await db.query('SELECT count(*) FROM links')).rows[0].count),
    async stop() {
      await db.end()
      const exited = once(child, 'exit')
      process.kill(-(child.pid as number), 'SIGKILL')
      await exited
    },
  }
}

async function untilReady(child: ChildProcess, url: string): Promise<void> {
  for (let attempt = 0; attempt < 150; attempt++) {
    if (child.exitCode !== null) throw new Error(`Kutt exited with ${child.exitCode}`)
    const response = await fetch(`${url}/login`).catch(() => undefined)
    if (response?.ok) return
    await sleep(200)
  }
  throw new Error('Kutt did not start within 30 s')
}
