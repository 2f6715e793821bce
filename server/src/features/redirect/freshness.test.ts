import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { type ServerProcess, startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { domainChangedMessage } from '../domains/messages.ts'
import { linkChangedMessage } from '../links/messages.ts'

const platform = await openTestPlatform()
const folders = await Promise.all([1, 2].map(() => mkdtemp(join(tmpdir(), 'tributary-fresh-'))))
const processes: ServerProcess[] = []
for (const folder of folders) {
  processes.push(await startServer({ ...inject('environment'), ROLES: 'redirect', SPOOL_DIRECTORY: folder }))
}
const partition = (workspaceId: string) => hashPartition(workspaceId, platform.config.EVENT_PARTITIONS)

afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()))
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
})

/** The response of each process as short text. */
function answers(host: string, key: string): Promise<string[]> {
  return Promise.all(
    processes.map(async ({ redirect }) => {
      const { status, headers } = await visit(`${redirect}/${key}`, { host, 'user-agent': browser })
      return headers.location ?? String(status)
    }),
  )
}

/** Requests the link without pause until both processes apply the change; fails after a second. */
async function obeyed(host: string, key: string, answer: string): Promise<number> {
  const started = performance.now()
  for (;;) {
    const given = await answers(host, key)
    const ms = performance.now() - started
    if (given.every((one) => one === answer)) return ms
    if (ms > 1_000) expect.fail(`${given.join(' and ')} instead of ${answer} after ${Math.round(ms)} ms`)
  }
}

async function change(workspace: BuiltWorkspace, key: string, columns: RawBuilder<unknown>, deleted = false) {
  await transaction(contextIn(platform, workspace.id), async (ctx) => {
    const { rows } = await sql<{ number: bigint }>`UPDATE links SET ${columns}, updated_at = now()
      WHERE workspace_id = ${workspace.id} AND key = ${key} RETURNING number`.execute(ctx.db)
    const body = { workspaceId: workspace.id, linkNumber: String(rows[0]?.number), domain: workspace.domain }
    const message = { ...body, lookupKey: key, isRoot: false, folderId: '', tenantId: '', partnerId: '', tagIds: [] }
    await publish(ctx, linkChangedMessage({ ...message, deleted, version: Date.now() }, partition(workspace.id)))
  })
}

test("two processes apply a link's change, disabling, enabling and deletion within a second", async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace, { key: 'go' })
  const { domain } = workspace
  await obeyed(domain, 'go', 'https://example.com/landing')
  for (const round of [1, 2, 3]) {
    await change(workspace, 'go', sql`url = ${`https://example.com/${round}`}`)
    await obeyed(domain, 'go', `https://example.com/${round}`)
    await change(workspace, 'go', sql`disabled_at = now()`)
    await obeyed(domain, 'go', '410')
    await change(workspace, 'go', sql`disabled_at = NULL`)
    await obeyed(domain, 'go', `https://example.com/${round}`)
  }
  await change(workspace, 'go', sql`deleted_at = now()`, true)
  await obeyed(domain, 'go', '404')
})

test('a missing link is found within a second after it was created', async () => {
  const workspace = await buildWorkspace(platform)
  for (const key of ['one', 'two', 'three']) {
    expect(await answers(workspace.domain, key)).toEqual(['404', '404'])
    await buildLink(platform, workspace, { key })
    await obeyed(workspace.domain, key, 'https://example.com/landing')
  }
})

test("a domain's change and deletion apply to redirects within a second", async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace, { key: 'go' })
  const { id, domain } = workspace
  const alter = (statement: RawBuilder<unknown>, deleted: boolean) =>
    transaction(contextIn(platform, id), async (ctx) => {
      await statement.execute(ctx.db)
      await publish(ctx, domainChangedMessage({ workspaceId: id, slug: domain, deleted }, partition(id)))
    })
  await obeyed(domain, 'none', '404')
  await alter(sql`UPDATE domains SET not_found_url = 'https://example.com/lost' WHERE slug = ${domain}`, false)
  await obeyed(domain, 'none', 'https://example.com/lost')
  expect(await answers(domain, 'go')).toEqual(Array(2).fill('https://example.com/landing'))
  await alter(sql`DELETE FROM domains WHERE slug = ${domain}`, true)
  await obeyed(domain, 'go', '404')
})

test('after a hundred changes, a constantly visited link has the last destination', async () => {
  const workspace = await buildWorkspace(platform)
  await buildLink(platform, workspace, { key: 'go' })
  let isOver = false
  const visits = (async () => {
    while (!isOver) await answers(workspace.domain, 'go')
  })()
  for (let round = 0; round < 100; round++) await change(workspace, 'go', sql`url = ${`https://example.com/${round}`}`)
  isOver = true
  await visits
  await obeyed(workspace.domain, 'go', 'https://example.com/99')
  for (const until = Date.now() + 700; Date.now() < until; ) {
    expect(await answers(workspace.domain, 'go')).toEqual(Array(2).fill('https://example.com/99'))
  }
})
