import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { expect, inject, test, vi } from 'vitest'
import { createDatabase } from '../../../engines/postgres.ts'
import { buildLink, buildWorkspace } from '../../test/build.ts'
import { openTestPlatform } from '../../test/stack.ts'
import { migrate } from '../platform/migrate.ts'

// A long timeout, because starting a process is slow on a busy machine.
vi.setConfig({ testTimeout: 60_000 })
// On a slow machine, commands print their progress to stderr every five seconds.
const onlyProgress = expect.stringMatching(/^(?: *\d+ %, .*\n)*$/)
const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const environment = inject('environment')
const name = `rebuild_${randomUUID().replaceAll('-', '')}`
const shared = await openTestPlatform()
await shared.clickhouse.command({ query: `CREATE DATABASE ${name}` })
const own = {
  POSTGRES_URL: await createDatabase(environment.POSTGRES_URL as string, name),
  CLICKHOUSE_URL: new URL(`/${name}`, environment.CLICKHOUSE_URL).href,
}
const platform = await openTestPlatform(own)
await migrate(platform.config, platform.clickhouse, () => {})

test('`rebuild` prints the number of clicks, leads and sales that it read and added', async () => {
  const link = await buildLink(platform, await buildWorkspace(platform))
  await sql`UPDATE link_counters SET clicks = 3
    WHERE link_number = (SELECT number FROM links WHERE id = ${link.id})`.execute(platform.db)
  expect(await tributary(own, 'rebuild')).toMatchObject({
    code: 0,
    stderr: onlyProgress,
    stdout: `Messages read from the log: 0, with 0 clicks. Clicks added: 0.
Leads, sales and refunds read from PostgreSQL: 0. Rows added: 0.
Links written: 1. Counters and rollups repaired: 1.\n`,
  })
  const json = await tributary(own, 'rebuild', '--json')
  expect(JSON.parse(json.stdout)).toEqual({
    messages: 0,
    clicks: 0,
    added: 0,
    links: 1,
    conversions: 0,
    conversionsAdded: 0,
    recovered: 0,
    unrepaired: 0,
  })
})

test('rebuild reports in one line that an engine is down', async () => {
  const answer = await tributary({ ...own, NATS_URL: 'nats://127.0.0.1:1' }, 'rebuild')
  expect(answer).toMatchObject({ code: 1, stdout: '' })
  expect(answer.stderr).toBe(
    'Connection failed: NATS at 127.0.0.1:1: connection refused. Check that the server runs and its URL is correct.\n',
  )
})

async function tributary(given: Record<string, string>, ...words: string[]) {
  const env = { PATH: process.env.PATH, ...environment, ...given }
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 50_000 })
  const code = new Promise((resolve, reject) => child.once('error', reject).once('exit', resolve))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { code: await code, stdout, stderr }
}
