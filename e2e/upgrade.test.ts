import { spawn } from 'node:child_process'
import { hash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { insert } from '../server/src/platform/clickhouse.ts'
import { knownMigrations, migrate } from '../server/src/platform/migrate.ts'
import { browser } from '../server/test/build.ts'
import { openPerson } from '../server/test/person.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { unpackOldVersion } from './old-version.ts'

const main = fileURLToPath(new URL('../server/src/main.ts', import.meta.url))
const domain = 'upgrade.localhost'
// Users and members came with this migration of PostgreSQL.
const beforePeople = '0072_users.sql'
const folder = await mkdtemp(join(tmpdir(), 'tributary-upgrade-'))
const closing: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })]
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})
const shared = await openTestPlatform()
const old = await unpackOldVersion(join(folder, 'old'))

// A shallow clone has no old version to test.
test.skipIf(!old)(
  'the version before the newest migration serves while the migration runs, and loses nothing',
  async () => {
    const oldMain = old as string
    const env = await emptyInstallation()
    const run = (program: string, ...words: string[]) => tributary(program, env, ...words)
    expect(await run(oldMain, 'migrate')).toMatchObject({ code: 0 })
    expect(await run(oldMain, 'workspace', 'create', 'upgrade')).toMatchObject({ code: 0 })
    const key = JSON.parse((await run(oldMain, 'key', 'create', 'upgrade', '--json')).stdout).key as string
    expect(await run(oldMain, 'domain', 'add', 'upgrade', domain)).toMatchObject({ code: 0 })

    const before = await start(env, oldMain)
    const load = useAgainAndAgain(before, key)
    await eventually(async () => expect((await readCounts(before, key)).sales).toBeGreaterThan(5), 60_000)

    await upgrade(env)

    // A rolling upgrade: both versions serve, then only the new one.
    await load.seconds(1)
    const after = await start(env, main)
    load.use(after)
    await load.seconds(1)
    await before.stop()
    await load.seconds(1)
    const used = await load.stop()
    expect(used.problems).toEqual([])
    await eventually(async () => {
      expect(await readCounts(after, key)).toEqual({ clicks: used.count, leads: used.count, sales: used.count })
    }, 60_000)
    const links = await fetch(`${after.api}/links/count`, { headers: { authorization: `Bearer ${key}` } })
    expect(await links.json()).toBe(used.count)
    const verified = await run(main, 'verify')
    expect(verified, verified.stdout).toMatchObject({ code: 0 })
  },
  180_000,
)

test('tables with data from before the newest migrations migrate to the current schema', async () => {
  const env = await emptyInstallation()
  const { config, clickhouse, db } = await openTestPlatform(env)
  const known = await knownMigrations()
  const newest = findNewest(known)
  await migrate(config, clickhouse, () => {}, { isSelected: ({ name }) => !newest.includes(name) })
  // Plain SQL with columns of the first migration, because current code may need current tables.
  await sql`INSERT INTO workspaces (id, name, slug, plan) VALUES ('ws_old', 'Old', 'upgrade', 'enterprise')`.execute(db)
  await sql`INSERT INTO domains (id, workspace_id, slug, verified) VALUES ('dom_old', 'ws_old', ${domain}, true)`.execute(
    db,
  )
  await sql`INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
    VALUES ('link_old', 'ws_old', ${domain}, 'old', 'old', 'https://example.com/old')`.execute(db)
  await sql`INSERT INTO link_counters (link_number, workspace_id, clicks)
    SELECT number, workspace_id, 2 FROM links`.execute(db)
  const clicks = ['one', 'two'].map((id_text) => ({
    workspace_id: 'ws_old',
    timestamp: Date.now(),
    id_text,
    link_number: 1,
  }))
  await insert(clickhouse, 'click_events', clicks as [object, ...object[]])

  expect(await upgrade(env)).toHaveLength(newest.length)
  const server = await start(env, main)
  const key = JSON.parse((await tributary(main, env, 'key', 'create', 'upgrade', '--json')).stdout).key as string
  expect(await readCounts(server, key)).toEqual({ clicks: 2, leads: 0, sales: 0 })
  const load = useAgainAndAgain(server, key)
  await load.seconds(1)
  const { count, problems } = await load.stop()
  expect(problems).toEqual([])
  const headers = { host: domain, 'user-agent': browser, 'x-forwarded-for': '198.51.100.251' }
  expect((await visit(`${server.redirect}/old`, headers)).headers.location).toBe('https://example.com/old')
  await eventually(async () => {
    expect(await readCounts(server, key)).toEqual({ clicks: count + 3, leads: count, sales: count })
  }, 60_000)
  const verified = await tributary(main, env, 'verify')
  expect(verified, verified.stdout).toMatchObject({ code: 0 })
}, 180_000)

test('an installation from before sign-in works unchanged, and a person whom the operator makes its owner signs in', async () => {
  const env = await emptyInstallation()
  const { config, clickhouse, db } = await openTestPlatform(env)
  await migrate(config, clickhouse, () => {}, {
    isSelected: ({ engine, name }) => engine === 'clickhouse' || name < beforePeople,
  })
  const key = `trib_${randomUUID().replaceAll('-', '')}`
  await sql`INSERT INTO workspaces (id, name, slug, plan) VALUES ('ws_old', 'Old', 'upgrade', 'enterprise')`.execute(db)
  await sql`INSERT INTO domains (id, workspace_id, slug, verified) VALUES ('dom_old', 'ws_old', ${domain}, true)`.execute(
    db,
  )
  await sql`INSERT INTO links (id, workspace_id, domain, key, lookup_key, url)
    VALUES ('link_old', 'ws_old', ${domain}, 'old', 'old', 'https://example.com/old')`.execute(db)
  await sql`INSERT INTO tokens (id, workspace_id, name, hash, prefix, last_four, scopes) VALUES ('key_old', 'ws_old', 'old',
    ${hash('sha256', key, 'buffer')}, ${key.slice(0, 8)}, ${key.slice(-4)}, '{apis.all}')`.execute(db)
  await upgrade(env)

  const server = await start(env, main)
  const withKey = { authorization: `Bearer ${key}` }
  const read = async (path: string, headers: Record<string, string> = withKey) =>
    (await fetch(server.api + path, { headers })).json()
  const load = useAgainAndAgain(server, key)
  await load.seconds(1)
  expect((await load.stop()).problems).toEqual([])
  const visitor = { host: domain, 'user-agent': browser, 'x-forwarded-for': '198.51.100.251' }
  expect((await visit(`${server.redirect}/old`, visitor)).headers.location).toBe('https://example.com/old')
  expect(await read('/links/info?linkId=link_old')).toMatchObject({ url: 'https://example.com/old' })
  expect(await read('/workspaces')).toMatchObject([{ id: 'ws_old', slug: 'upgrade', plan: 'enterprise', role: null }])
  expect(await read('/tokens')).toMatchObject([{ id: 'key_old', name: 'old', scopes: ['apis.all'] }])

  // The address of the link must be that of the server.
  const people = { ...env, API_URL: server.api }
  const email = 'ada@example.com'
  const created = await tributary(main, people, 'user', 'create', email, '--json')
  const token = new URL(JSON.parse(created.stdout).link).searchParams.get('token') as string
  const added = await tributary(main, people, 'member', 'add', 'upgrade', email, '--role', 'owner')
  expect(added, added.stderr).toMatchObject({ code: 0 })
  const person = openPerson(server.api)
  expect((await person.post('/sign-in/use-link', { token })).location).toBe('/app')
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  expect(await read('/workspaces', { cookie })).toMatchObject([{ id: 'ws_old', role: 'owner' }])
  const inWorkspace = { cookie, 'tributary-workspace': 'upgrade' }
  expect(await read('/links/info?linkId=link_old', inWorkspace)).toMatchObject({ id: 'link_old' })
  const renamed = await fetch(`${server.api}/workspaces/upgrade`, {
    method: 'PATCH',
    headers: { ...inWorkspace, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'New' }),
  })
  expect(await renamed.json()).toMatchObject({ id: 'ws_old', name: 'New', role: 'owner' })
  expect(await read('/workspaces/upgrade')).toMatchObject({ name: 'New', role: null })
  const verified = await tributary(main, env, 'audit', 'verify')
  expect(verified, verified.stdout).toMatchObject({ code: 0 })
}, 180_000)

/**
 * The newest migration of ClickHouse, and those of PostgreSQL from its namesake on: the two are one change, which only
 * ever meets the data of an older version together.
 */
function findNewest(known: Awaited<ReturnType<typeof knownMigrations>>): string[] {
  const names = (engine: string) => known.flatMap((file) => (file.engine === engine ? [file.name] : []))
  const [clickhouse, postgres] = [names('clickhouse').at(-1) as string, names('postgres')]
  const namesake = postgres.findIndex((name) => name.slice(4) === clickhouse.slice(4))
  return [clickhouse, ...postgres.slice(namesake === -1 ? -1 : namesake)]
}

/** Checks for pending migrations, then migrates from two processes at once; returns the applied migrations. */
async function upgrade(env: Record<string, string>): Promise<string[]> {
  const checked = await tributary(main, env, 'upgrade-check', '--json')
  expect(checked, checked.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(checked.stdout).checks).toContainEqual(
    expect.objectContaining({ check: 'migrations', found: expect.stringContaining('pending: ') }),
  )
  const both = await Promise.all([1, 2].map(() => tributary(main, env, 'migrate', '--json')))
  const applied = both.map(({ stdout }) => JSON.parse(stdout).applied as string[])
  expect(applied.map(({ length }) => length > 0).toSorted()).toEqual([false, true])
  return applied.flat()
}

/** Creates links, visits, leads and sales on all servers in turn, and collects failures. */
function useAgainAndAgain(server: ServerProcess, key: string) {
  const servers = [server]
  const problems: string[] = []
  let [count, isOver] = [0, false]
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const address = `${servers.at(-1)?.api}${path}`
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  }
  const use = async (number: number) => {
    const name = `link-${number}`
    await post('/links', { url: `https://example.com/${number}`, domain, key: name, trackConversion: true })
    const headers = { host: domain, 'user-agent': browser, 'x-forwarded-for': `198.51.100.${number % 250}` }
    const { headers: answer, status } = await visit(`${servers.at(-1)?.redirect}/${name}`, headers)
    if (status !== 302) throw new Error(`visit: ${status}`)
    const clickId = new URL(answer.location ?? '').searchParams.get('trib_id')
    await post('/track/lead', { clickId, eventName: 'Sign up', customerExternalId: `customer ${number}` })
    await post('/track/sale', { customerExternalId: `customer ${number}`, amount: 100, invoiceId: `in_${number}` })
  }
  const work = (async () => {
    while (!isOver) {
      count += 1
      await use(count).catch((error) => problems.push(`${count}: ${error.message}`))
    }
  })()
  return {
    use: (another: ServerProcess) => servers.push(another),
    seconds: (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000)),
    async stop() {
      isOver = true
      await work
      return { count, problems }
    },
  }
}

async function readCounts(
  server: ServerProcess,
  key: string,
): Promise<{ clicks: number; leads: number; sales: number }> {
  const analytics = await fetch(`${server.api}/analytics?event=composite&groupBy=count&interval=all`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { clicks, leads, sales } = (await analytics.json()) as { clicks: number; leads: number; sales: number }
  return { clicks, leads, sales }
}

async function emptyInstallation(): Promise<Record<string, string>> {
  const engines = await startEngines({ only: ['nats', 'valkey'] })
  closing.push(() => engines.stop())
  const name = `upgrade_${randomUUID().replaceAll('-', '')}`
  const environment = inject('environment')
  await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
  return {
    ...environment,
    ...engines.urls,
    POSTGRES_URL: await createDatabase(environment.POSTGRES_URL as string, name),
    CLICKHOUSE_URL: `${environment.CLICKHOUSE_URL}/${name}`,
    SPOOL_DIRECTORY: join(folder, 'spool'),
    TRUSTED_PROXIES: '127.0.0.1',
  }
}

async function start(env: Record<string, string>, program: string): Promise<ServerProcess> {
  const spool = join(folder, `spool-${randomUUID()}`)
  const server = await startServer({ ...env, SPOOL_DIRECTORY: spool }, undefined, program)
  closing.push(() => server.stop())
  return server
}

async function tributary(program: string, env: Record<string, string>, ...words: string[]) {
  const child = spawn(process.execPath, [program, ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 100_000,
  })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
