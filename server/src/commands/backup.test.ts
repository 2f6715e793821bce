import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { startS3Server } from '../../test/storage/s3-server.ts'
import { insert, query } from '../platform/clickhouse.ts'
import type { Platform } from '../platform/context.ts'
import { knownMigrations, migrate } from '../platform/migrate.ts'

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 300_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const shared = await openTestPlatform()
// On a slow machine, commands print their progress to stderr every five seconds.
const onlyProgress = expect.stringMatching(/^(?: *\d+ %, .*\n)*$/)
const keys = { accessKey: 'AKIATEST', secretKey: 'a/secret+key', region: 'eu-central-1' }
const sums = `SELECT toString(groupBitXor(cityHash64(*))) AS hash, count() AS rows,
  (SELECT sum(clicks) FROM link_counts) AS links, (SELECT sum(clicks) FROM dimension_counts) AS dimensions
  FROM click_events`

test('an encrypted backup in S3 can be restored only with its key, and has all settings', async () => {
  const { env, platform } = await installation()
  const storage = await bucket()
  const settings = { ...storage.env, BACKUP_KEY: 'ab'.repeat(32) }
  const link = await buildLink(platform, await buildWorkspace(platform), { comments: 'a secret plan' })
  const folder = 's3://backups/today'
  const made = await tributary({ ...env, ...settings }, 'backup', folder)
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('The backup is encrypted') })
  expect(await tributary({ ...env, ...settings }, 'backup', folder)).toMatchObject({ code: 1 })
  const runs = await sql`SELECT is_successful, details->>'location' AS location, details->>'encrypted' AS encrypted,
    details ? 'problem' AS failed FROM maintenance_runs WHERE kind = 'backup' ORDER BY id`.execute(platform.db)
  expect(runs.rows).toEqual([
    { is_successful: true, location: folder, encrypted: 'true', failed: false },
    { is_successful: false, location: folder, encrypted: null, failed: true },
  ])
  const names = [...storage.objects.keys()]
  expect(names).toContain('/backups/today/manifest.json')
  expect(names).toContain('/backups/today/postgres/links-00001.tsv.zst.aes')
  expect(names.filter((name) => storage.objects.get(name)?.includes('a secret plan'))).toEqual([])

  const configuration = await tributary(settings, 'restore', folder, '--configuration')
  expect(configuration).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`\nCLICK_ID_KEYS=${env.CLICK_ID_KEYS}\n`),
  })
  const target = await empty()
  const wrong = await tributary({ ...target, ...settings, BACKUP_KEY: 'cd'.repeat(32) }, 'restore', folder)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('signature of the backup manifest is wrong') })
  const name = '/backups/today/manifest.json'
  const genuine = storage.objects.get(name) as Buffer
  storage.objects.set(name, Buffer.from(String(genuine).replace('"encrypted": true', '"encrypted": false')))
  expect(await tributary({ ...target, ...settings }, 'restore', folder)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The backup is not encrypted, but BACKUP_KEY is set'),
  })
  storage.objects.set(name, genuine)
  const without = await tributary({ ...target, ...storage.env }, 'restore', folder)
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('The backup is encrypted') })
  expect(await tributary({ ...target, ...settings }, 'restore', folder)).toMatchObject({
    code: 0,
    stderr: onlyProgress,
  })
  const restored = await openTestPlatform(target)
  const found = await sql`SELECT comments FROM links WHERE id = ${link.id}`.execute(restored.db)
  expect(found.rows).toEqual([{ comments: 'a secret plan' }])
  // After a restore, a new link's number is above any number that may have been assigned after the backup.
  const other = await buildLink(restored, await buildWorkspace(restored))
  const number = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${other.id}`.execute(restored.db)
  expect(number.rows[0]?.number).toBeGreaterThan(1_000_000n)
})

test('an unencrypted backup masks secret settings', async () => {
  const { env } = await installation()
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/plain')).toMatchObject({ code: 0 })
  const { stdout } = await tributary(storage.env, 'restore', 's3://backups/plain', '--configuration')
  expect(stdout).toContain('\nCLICK_ID_KEYS=***\n')
  expect(stdout).toContain('\nBACKUP_S3_SECRET_KEY=***\n')
  for (const secret of [env.CLICK_ID_KEYS, env.ENCRYPTION_KEYS, keys.secretKey]) expect(stdout).not.toContain(secret)
})

test('a restore of an older version applies newer migrations afterwards', async () => {
  const newest = (await knownMigrations()).filter(({ engine }) => engine === 'postgres').at(-1)?.name
  const { env, platform } = await installation(({ name }) => name !== newest)
  await sql`INSERT INTO workspaces (id, name, slug, plan) VALUES ('ws_old', 'Old', 'old', 'pro')`.execute(platform.db)
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/old')).toMatchObject({ code: 0 })
  const filled = await installation()
  const ahead = await tributary({ ...filled.env, ...storage.env }, 'restore', 's3://backups/old', '--replace')
  expect(ahead).toMatchObject({ code: 1, stderr: expect.stringContaining(`which already has postgres/${newest}`) })
  const target = await empty()
  const restored = await tributary({ ...target, ...storage.env }, 'restore', 's3://backups/old', '--json')
  expect(JSON.parse(restored.stdout)).toMatchObject({ migrated: [`postgres: ${newest}`] })
  const { db } = await openTestPlatform(target)
  expect((await sql`SELECT slug FROM workspaces`.execute(db)).rows).toEqual([{ slug: 'old' }])
})

test('a restore has the same ClickHouse rows, byte for byte, and counts them once', async () => {
  const { env, platform } = await installation()
  const rows = Array.from({ length: 300 }, (_, number) => ({
    workspace_id: 'ws_bytes',
    timestamp: Date.UTC(2026, number % 3, 1 + (number % 28)),
    id_text: Buffer.from(Array.from({ length: 30 }, (_, at) => (number * 31 + at) % 256)).toString('base64url'),
    link_number: '1',
    url: `tab\t newline\n backslash \\ quote ' null \0 ünïcode ${number}`,
    ip: number % 2 ? '2001:db8::1' : '::ffff:192.0.2.1',
    bot: '',
  })) as [object, ...object[]]
  await insert(platform.clickhouse, 'click_events', rows)
  const before = await query(platform.clickhouse, sums, {})
  expect(before).toMatchObject([{ rows: expect.toSatisfy((rows) => Number(rows) === 300) }])
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/bytes')).toMatchObject({ code: 0 })
  const target = await empty()
  expect(await tributary({ ...target, ...storage.env }, 'restore', 's3://backups/bytes')).toMatchObject({ code: 0 })
  const { clickhouse } = await openTestPlatform(target)
  expect(await query(clickhouse, sums, {})).toEqual(before)
})

test('a backup moves all events to an empty ClickHouse beside the same PostgreSQL', async () => {
  const { env, platform } = await installation()
  const link = await buildLink(platform, await buildWorkspace(platform))
  await insert(platform.clickhouse, 'click_events', [buildClick(1), buildClick(2)])
  const before = await query(platform.clickhouse, sums, {})
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/move')).toMatchObject({ code: 0 })
  const { CLICKHOUSE_URL } = await empty()
  const target = { ...env, CLICKHOUSE_URL: CLICKHOUSE_URL as string }
  // A restore is refused while a process is connected to PostgreSQL.
  await platform.db.destroy()
  expect(await tributary(target, 'migrate')).toMatchObject({ code: 0 })
  const words = ['restore', 's3://backups/move', '--replace']
  expect(await tributary({ ...target, ...storage.env }, ...words)).toMatchObject({ code: 0, stderr: onlyProgress })
  const moved = await openTestPlatform(target)
  expect(await query(moved.clickhouse, sums, {})).toEqual(before)
  expect((await sql`SELECT id FROM links`.execute(moved.db)).rows).toEqual([{ id: link.id }])
})

test("a restore works for tables above ClickHouse's drop limit", async () => {
  const { env, platform } = await installation()
  await insert(platform.clickhouse, 'click_events', [buildClick(1)])
  const storage = await bucket()
  const careful = { ...env, CLICKHOUSE_URL: `${env.CLICKHOUSE_URL}?ch_max_table_size_to_drop=1`, ...storage.env }
  expect(await tributary(careful, 'backup', 's3://backups/large')).toMatchObject({ code: 0, stderr: onlyProgress })
  expect(await copiesIn(platform)).toEqual([])
  expect(await tributary(careful, 'restore', 's3://backups/large', '--replace')).toMatchObject({
    code: 0,
    stderr: onlyProgress,
  })
  expect(await copiesIn(platform)).toEqual([])
  expect(await query(platform.clickhouse, 'SELECT link_number FROM click_events', {})).toHaveLength(1)
})

test('an interrupted backup can be repeated in the same folder, and an interrupted restore too', async () => {
  const { env, platform } = await installation()
  await insert(platform.clickhouse, 'click_events', [buildClick(1), buildClick(2)])
  const link = await buildLink(platform, await buildWorkspace(platform))
  const storage = await bucket()
  const all = { ...env, ...storage.env }
  const folder = 's3://backups/killed'
  expect(await killedAfter(storage.objects, 'set', 4, all, 'backup', folder)).toBe('SIGKILL')
  expect(await copiesIn(platform)).not.toEqual([])
  expect(await tributary(all, 'restore', folder, '--replace')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no complete backup: manifest.json is missing'),
  })
  expect(await tributary(all, 'backup', folder)).toMatchObject({ code: 0, stderr: onlyProgress })
  expect(await copiesIn(platform)).toEqual([])

  const target = { ...(await empty()), ...storage.env }
  for (const files of [3, 6]) {
    expect(await killedAfter(storage.objects, 'get', files, target, 'restore', folder)).toBe('SIGKILL')
  }
  expect(await tributary(target, 'restore', folder)).toMatchObject({ code: 0, stderr: onlyProgress })
  const restored = await openTestPlatform(target)
  expect(await copiesIn(restored)).toEqual([])
  expect(await query(restored.clickhouse, 'SELECT link_number FROM click_events', {})).toHaveLength(2)
  expect((await sql`SELECT id FROM links`.execute(restored.db)).rows).toEqual([{ id: link.id }])
})

test('a tampered manifest can not inject SQL', async () => {
  const { env } = await installation()
  const storage = await bucket()
  const all = { ...env, ...storage.env }
  expect(await tributary(all, 'backup', 's3://backups/changed')).toMatchObject({ code: 0 })
  const name = '/backups/changed/manifest.json'
  const manifest = JSON.parse(String(storage.objects.get(name)))
  const [table] = manifest.tables.filter((table: { name: string }) => table.name === 'click_events')
  table.columns = ['workspace_id) SELECT version() --']
  storage.objects.set(name, Buffer.from(JSON.stringify(manifest)))
  expect(await tributary(all, 'restore', 's3://backups/changed', '--replace')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`columns of the backup: clickhouse/click_events.${table.columns[0]}.`),
  })
})

test('a storage failure is reported with its remedy, and leaves no table copies and locks', async () => {
  const { env, platform } = await installation()
  // So many rows that ClickHouse is still sending them when the storage fails.
  const rows = `INSERT INTO click_events (workspace_id, timestamp, id_text, link_number, url)
    SELECT 'ws_many', now64(3), hex(cityHash64(number)), 1, repeat(hex(cityHash64(number)), 30) FROM numbers(100000)`
  await platform.clickhouse.command({ query: rows })
  const storage = await bucket()
  const all = { ...env, ...storage.env }
  const set = storage.objects.set.bind(storage.objects)
  storage.objects.set = (name, bytes) => {
    if (name.includes('/click_events/')) storage.refuse(1_000)
    return set(name, bytes)
  }
  expect(await tributary(all, 'backup', 's3://backups/broken')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^PUT .* failed 6 times, most recently with 503 .*SlowDown.* retry when the storage/m,
    ),
  })
  expect(await copiesIn(platform)).toEqual([])
})

test('a backup folder that can not be used is reported in one line', async () => {
  const { env } = await installation()
  const folder = await mkdtemp(join(tmpdir(), 'tributary-place-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'file')
  await writeFile(file, 'not a folder')
  for (const command of ['backup', 'restore']) {
    const { code, stderr } = await tributary(env, command, file)
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^Can't .*\/file\/.*not a directory.*\n$/),
    })
  }
})

async function bucket() {
  const server = await startS3Server(keys, 'backups')
  onTestFinished(() => server[Symbol.asyncDispose]())
  const env = {
    BACKUP_S3_ENDPOINT: server.endpoint,
    BACKUP_S3_REGION: keys.region,
    BACKUP_S3_ACCESS_KEY: keys.accessKey,
    BACKUP_S3_SECRET_KEY: keys.secretKey,
  }
  const refuse = (requests: number) => {
    server.refusals = requests
  }
  return { objects: server.objects, env, refuse }
}

function buildClick(number: number): object {
  return { workspace_id: 'ws_one', timestamp: Date.UTC(2026, 0, number), id_text: `click ${number}`, link_number: '1' }
}

async function copiesIn({ clickhouse }: Platform): Promise<unknown[]> {
  const statement = `SELECT name FROM system.tables
    WHERE database = currentDatabase() AND match(name, '^(backup|restore)_of_')`
  return query(clickhouse, statement, {})
}

/** Kills a backup or restore command at its nth file. */
async function killedAfter(
  objects: Map<string, Buffer>,
  method: 'get' | 'set',
  files: number,
  env: Record<string, string>,
  ...words: string[]
) {
  const child = spawn(process.execPath, [main, ...words], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)))
  const original = objects[method].bind(objects) as (...words: never[]) => never
  let count = 0
  objects[method] = (...words: never[]): never => {
    count += 1
    if (count === files) child.kill('SIGKILL')
    return original(...words)
  }
  const signal = await ended
  delete (objects as Partial<typeof objects>)[method]
  return signal
}

async function installation(isSelected = (_file: { name: string }) => true) {
  const env = await empty()
  const platform = await openTestPlatform(env)
  await migrate(platform.config, platform.clickhouse, () => {}, { isSelected })
  return { env, platform }
}

async function empty(): Promise<Record<string, string>> {
  const name = `backup_${randomUUID().replaceAll('-', '')}`
  await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
  return {
    ...environment,
    POSTGRES_URL: await createDatabase(environment.POSTGRES_URL as string, name),
    CLICKHOUSE_URL: new URL(`/${name}`, environment.CLICKHOUSE_URL).href,
  }
}

async function tributary(env: Record<string, string>, ...words: string[]) {
  const child = spawn(process.execPath, [main, ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 180_000,
  })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
