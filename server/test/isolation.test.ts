import { setTimeout as sleep } from 'node:timers/promises'
import { operations } from '@tributary/contract/index'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { runMaturing } from '../src/features/commissions/mature.ts'
import { foldLedgerSums } from '../src/features/ledger/service.ts'
import { insertDeliveries, insertEvents } from '../src/features/webhooks/deliveries-store.ts'
import { browser, buildMember, buildProgram, buildWorkspace } from './build.ts'
import { buildObjects } from './build-objects.ts'
import { bodyFields, foreignAttempts, pathNames } from './foreign-attempts.ts'
import { type Foreign, foreignValue, harmless, secret } from './foreign-values.ts'
import { eventually, openTestPlatform } from './stack.ts'
import { visit } from './visit.ts'
import { buildWebhook } from './webhooks.ts'

/**
 * Calls every operation with an API key of one workspace and every identifier of another workspace's objects: in the
 * path, in the query and in the body. New operations are included automatically; a new type of identifier needs a line
 * in foreign-values.ts.
 */
const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const jsonOperations = operations.filter((operation) => operation.kind === 'json')
let foreign: Foreign

beforeAll(async () => {
  const workspace = await buildWorkspace(platform)
  const ids = await buildObjects(platform, workspace, secret)
  foreign = { ...workspace, ...ids, externalId: secret, clickId: '', webhookId: '', eventId: secret }
  await visit(`${redirect}/${secret}`, { host: workspace.domain, 'user-agent': browser })
  const clicks = async () => (await ask(withKey(foreign.key), 'get', '/events', {})).text
  await eventually(async () => expect(await clicks()).toContain(secret))
  foreign.clickId = JSON.parse(await clicks())[0].click_id
  const lead = { clickId: foreign.clickId, eventName: secret, customerExternalId: secret }
  await ask(withKey(foreign.key), 'post', '/track/lead', {}, lead)
  await ask(
    withKey(foreign.key),
    'post',
    '/track/sale',
    {},
    { customerExternalId: secret, amount: 500, invoiceId: secret },
  )
  await ask(withKey(foreign.key), 'post', '/track/refund', {}, { invoiceId: secret, amount: 5, refundId: secret })
  await eventually(async () => {
    const found = await sql<{ stored_at: Date | null }>`
      SELECT stored_at FROM conversions WHERE workspace_id = ${foreign.id}`.execute(platform.db)
    expect(found.rows.map((row) => row.stored_at)).toEqual([expect.any(Date), expect.any(Date), expect.any(Date)])
  }, 30_000)
  // Created last and disabled, so that no worker changes it during the test.
  const webhook = { url: `https://localhost/${secret}`, name: secret, disabled_at: new Date() }
  foreign.webhookId = (await buildWebhook(platform, workspace.id, webhook)).id
  const published = { id: secret, event: 'link.created' as const, customerId: null, body: secret }
  const event = { ...published, createdAt: new Date().toISOString(), webhookIds: [foreign.webhookId] }
  await insertEvents(platform.db, workspace.id, [event])
  await insertDeliveries(platform.db, workspace.id, [event], new Date())
  // Jobs would otherwise do it during the test.
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [workspace.id] })
  await foldLedgerSums(platform, new AbortController().signal)
  // Workers process the click and the sale a moment later.
  await eventually(async () => {
    const before = await snapshot(foreign.id)
    await sleep(2_000)
    expect(await snapshot(foreign.id)).toEqual(before)
  })
})

describe.each(jsonOperations)('$id', (operation) => {
  test('has only parameters and fields that this test covers', () => {
    const names = [...pathNames(operation), ...Object.keys(operation.query.shape), ...bodyFields(operation)]
    expect(
      names.filter((name) => foreignValue(foreign, name, operation.path) === undefined && !harmless.has(name)),
    ).toEqual([])
  })

  test('neither returns nor changes objects of another workspace', async () => {
    const own = await buildWorkspace(platform)
    if (!operation.path.startsWith('/programs')) await buildProgram(platform, own)
    const isForKeys = operation.actors.includes('key') && !operation.needsUser
    const owner = isForKeys ? undefined : await buildMember(platform, own, 'owner')
    const credentials = owner ? signIn(owner.cookie, own.id) : withKey(own.key)
    const before = await snapshot(foreign.id)
    for (const { path, query, body } of foreignAttempts(operation, foreign)) {
      const { status, text } = await ask(credentials, operation.method, path, query, body)
      const published = `${operation.method} ${path} ${JSON.stringify([query, body])}: ${status} ${text}`
      if (pathNames(operation).length > 0) expect(status, published).toBe(404)
      expect(status, published).toBeLessThan(500)
      expect(leaks(JSON.parse(text)), published).toEqual([])
    }
    expect(await snapshot(foreign.id)).toEqual(before)
  })
})

const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
const signIn = (cookie: string, workspace: string) => ({
  cookie,
  'tributary-workspace': workspace,
  'sec-fetch-site': 'same-origin',
})

async function ask(
  credentials: Record<string, string>,
  method: string,
  path: string,
  query: Record<string, string>,
  body?: unknown,
) {
  const response = await fetch(`${api}${path}?${new URLSearchParams(query)}`, {
    method: method.toUpperCase(),
    headers: { ...credentials, 'content-type': 'application/json' },
    body: method === 'get' || method === 'delete' ? undefined : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Returns the other workspace's values in the response, except for values of the request. */
function leaks(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(leaks)
  const object = value as Record<string, unknown>
  const owned = [
    foreign.linkId,
    foreign.tagId,
    foreign.folderId,
    foreign.customerId,
    foreign.clickId,
    foreign.webhookId,
    foreign.programId,
    foreign.groupId,
    foreign.partnerTagId,
    foreign.discountId,
    foreign.discountCodeId,
    foreign.rewardId,
    foreign.partnerId,
    foreign.commissionId,
    foreign.keyId,
    foreign.inviteId,
    foreign.utmTemplateId,
    foreign.viewId,
    foreign.noteId,
    foreign.shareId,
    foreign.bulkOperationId,
    foreign.installCheckId,
    foreign.id,
  ]
  const isForeign =
    object.workspaceId === foreign.id || object.projectId === foreign.id || owned.includes(String(object.id))
  return [...(isForeign ? [object] : []), ...Object.values(object).flatMap(leaks)]
}

/** Returns every row of the workspace in every table. */
async function snapshot(workspaceId: string): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ table_name: string }>`SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_name <> 'outbox'
    ORDER BY table_name`.execute(platform.db)
  const rows: Record<string, unknown[]> = {}
  for (const { table_name } of tables.rows) {
    const found =
      await sql`SELECT * FROM ${sql.table(table_name)} row WHERE workspace_id = ${workspaceId} ORDER BY row::text`.execute(
        platform.db,
      )
    rows[table_name] = found.rows
  }
  return rows
}
