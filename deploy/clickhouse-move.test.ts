import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { projectFolder } from '../engines/programs.ts'
import { startEngines } from '../engines/start.ts'
import { browser, buildLink, buildWorkspace } from '../server/test/build.ts'
import { type ServerProcess, startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { temporaryFolder } from './test/program.ts'

// The steps of install.sh --clickhouse-server, with a second in-process engine in place of the server.
const run = promisify(execFile)
const parts = new AsyncDisposableStack()
afterAll(() => parts.disposeAsync())
const { path } = parts.use(await temporaryFolder())
const [engines, next] = [
  await startEngines({ only: ['nats', 'valkey', 'clickhouse'] }),
  await startEngines({ only: ['clickhouse'] }),
]
parts.defer(() => engines.stop())
parts.defer(() => next.stop())
const name = `move_${randomUUID().replaceAll('-', '')}`
const before: Record<string, string> = {
  ...inject('environment'),
  ...engines.urls,
  POSTGRES_URL: await createDatabase(inject('environment').POSTGRES_URL as string, name),
  TRUSTED_PROXIES: '127.0.0.1',
  SPOOL_DIRECTORY: join(path, 'spool'),
}
const after = { ...before, ...next.urls }

test('moving to another ClickHouse loses no event, neither stored, nor in the event log, nor only in PostgreSQL', async () => {
  await tributary(before, 'migrate')
  const platform = await openTestPlatform(before)
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { domain: workspace.domain, key: 'go', trackConversion: true })
  await platform.db.destroy()

  const first = await startServer(before)
  parts.defer(() => first.stop().then(() => {}))
  for (let visitor = 1; visitor <= 20; visitor += 1) await click(first, visitor)
  await lead(first, await click(first, 21), 'stored')
  await eventually(async () => expect(await counts(first)).toMatchObject({ clicks: 21, leads: 1 }))
  await first.stop()

  const unread = await startServer({ ...before, ROLES: 'api,redirect' })
  parts.defer(() => unread.stop().then(() => {}))
  for (let visitor = 31; visitor <= 34; visitor += 1) await click(unread, visitor)
  await lead(unread, await click(unread, 35), 'pending')
  expect(await counts(unread)).toMatchObject({ clicks: 21, leads: 1 })
  await unread.stop()

  const saved = join(path, 'saved')
  await tributary(before, 'backup', saved)
  await tributary(after, 'restore', saved, '--replace')
  const moved = await startServer(after)
  parts.defer(() => moved.stop().then(() => {}))
  await eventually(async () => expect(await counts(moved)).toMatchObject({ clicks: 26, leads: 2 }))
  await lead(moved, await click(moved, 41), 'new')
  await eventually(async () => expect(await counts(moved)).toMatchObject({ clicks: 27, leads: 3 }))
  expect((await tributary(after, 'verify')).stdout).toContain('Every click counter is correct')

  async function click(server: ServerProcess, visitor: number): Promise<string> {
    const headers = { host: workspace.domain, 'user-agent': browser, 'x-forwarded-for': `198.51.100.${visitor}` }
    const answer = await visit(`${server.redirect}/${link.key}`, headers)
    expect(answer.status).toBe(302)
    return new URL(answer.headers.location ?? '').searchParams.get('trib_id') ?? ''
  }

  async function lead(server: ServerProcess, clickId: string, customerExternalId: string): Promise<void> {
    const body = JSON.stringify({ clickId, eventName: 'Sign up', customerExternalId })
    const headers = { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${server.api}/track/lead`, { method: 'POST', headers, body })
    expect(answer.status, await answer.text()).toBe(200)
  }

  async function counts(server: ServerProcess): Promise<unknown> {
    const path = '/analytics?event=composite&groupBy=count&interval=all'
    const answer = await fetch(server.api + path, { headers: { authorization: `Bearer ${workspace.key}` } })
    return answer.json()
  }
}, 900_000)

function tributary(env: Record<string, string>, ...words: string[]) {
  const options = { cwd: projectFolder, env: { PATH: process.env.PATH, ...env }, timeout: 300_000 }
  return run(process.execPath, ['server/src/main.ts', ...words], options)
}
