import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { startS3Server } from '../../test/storage/s3-server.ts'
import { insert, query } from '../platform/clickhouse.ts'
import { knownMigrations, migrate } from '../platform/migrate.ts'

// Starting a process takes long on a busy machine.
vi.setConfig({ testTimeout: 90_000 })
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const shared = await openTestPlatform()
const keys = { accessKey: 'AKIATEST', secretKey: 'a/secret+key', region: 'eu-central-1' }

test('an encrypted backup in a bucket is restored by its key only, and holds all settings', async () => {
  const { env, platform } = await installation()
  const storage = await bucket()
  const settings = { ...storage.env, BACKUP_KEY: 'ab'.repeat(32) }
  const link = await buildLink(platform, await buildWorkspace(platform), { comments: 'a secret plan' })
  const place = 's3://backups/today'
  const made = await tributary({ ...env, ...settings }, 'backup', place)
  expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('It is encrypted') })
  const names = [...storage.objects.keys()]
  expect(names).toContain('/backups/today/manifest.json')
  expect(names).toContain('/backups/today/postgres/links-00001.tsv.zst.aes')
  expect(names.filter((name) => storage.objects.get(name)?.includes('a secret plan'))).toEqual([])

  const configuration = await tributary(settings, 'restore', place, '--configuration')
  expect(configuration).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`\nCLICK_ID_KEYS=${env.CLICK_ID_KEYS}\n`),
  })
  const target = await empty()
  const wrong = await tributary({ ...target, ...settings, BACKUP_KEY: 'cd'.repeat(32) }, 'restore', place)
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('Is BACKUP_KEY the one it was made with?') })
  const without = await tributary({ ...target, ...storage.env }, 'restore', place)
  expect(without).toMatchObject({ code: 1, stderr: expect.stringContaining('The backup is encrypted') })
  expect(await tributary({ ...target, ...settings }, 'restore', place)).toMatchObject({ code: 0, stderr: '' })
  const restored = await openTestPlatform(target)
  const found = await sql`SELECT comments FROM links WHERE id = ${link.id}`.execute(restored.db)
  expect(found.rows).toEqual([{ comments: 'a secret plan' }])
  // A new one takes no number that may have been given after the backup.
  const other = await buildLink(restored, await buildWorkspace(restored))
  const number = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${other.id}`.execute(restored.db)
  expect(number.rows[0]?.number).toBeGreaterThan(1_000_000n)
})

test('without a key of its own a backup masks what is secret', async () => {
  const { env } = await installation()
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/plain')).toMatchObject({ code: 0 })
  const { stdout } = await tributary(storage.env, 'restore', 's3://backups/plain', '--configuration')
  expect(stdout).toContain('\nCLICK_ID_KEYS=***\n')
  expect(stdout).toContain('\nBACKUP_S3_SECRET_KEY=***\n')
  for (const secret of [env.CLICK_ID_KEYS, env.ENCRYPTION_KEYS, keys.secretKey]) expect(stdout).not.toContain(secret)
})

test('a backup of an older version is restored, then migrated', async () => {
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

test('rows of ClickHouse come back byte for byte, and are counted once', async () => {
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
  const sums = `SELECT toString(groupBitXor(cityHash64(*))) AS hash, count() AS rows,
    (SELECT sum(clicks) FROM link_counts) AS links, (SELECT sum(clicks) FROM dimension_counts) AS dimensions
    FROM click_events`
  const before = await query(platform.clickhouse, sums, {})
  expect(before).toMatchObject([{ rows: expect.toSatisfy((rows) => Number(rows) === 300) }])
  const storage = await bucket()
  expect(await tributary({ ...env, ...storage.env }, 'backup', 's3://backups/bytes')).toMatchObject({ code: 0 })
  const target = await empty()
  expect(await tributary({ ...target, ...storage.env }, 'restore', 's3://backups/bytes')).toMatchObject({ code: 0 })
  const { clickhouse } = await openTestPlatform(target)
  expect(await query(clickhouse, sums, {})).toEqual(before)
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
  return { objects: server.objects, env }
}

async function installation(wanted = (_file: { name: string }) => true) {
  const env = await empty()
  const platform = await openTestPlatform(env)
  await migrate(platform.config, platform.clickhouse, () => {}, { wanted })
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
    timeout: 60_000,
  })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
