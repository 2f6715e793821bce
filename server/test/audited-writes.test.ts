import { randomUUID } from 'node:crypto'
import { operations } from '@tributary/contract/index'
import type { JsonOperation } from '@tributary/contract/operation'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { isRecorded } from '../src/platform/recording.ts'
import { type BuiltWorkspace, buildWorkspace } from './build.ts'
import { openTestPlatform } from './stack.ts'
import { personalName, secretPassword, type ValidCall, validWrites } from './valid-writes.ts'

/* Calls every audited write with a valid request, and looks for its entry. A new operation needs a line in valid-writes.ts. */
const platform = await openTestPlatform()
const { api } = inject('server')
const audited = operations.filter(
  (operation): operation is JsonOperation => operation.kind === 'json' && isRecorded(operation),
)

type Row = {
  workspace_id: string
  actor_kind: string
  actor_id: string
  credential: string
  operation: string
  target_ids: string[]
  text: string
}

async function entries(requestId: string): Promise<Row[]> {
  const result =
    await sql<Row>`SELECT workspace_id, actor_kind, actor_id, credential, operation, target_ids, row_to_json(entry)::text AS text
    FROM audit_entries AS entry WHERE request_id = ${requestId} AND operation <> 'key.new-network' ORDER BY number`.execute(
      platform.db,
    )
  return result.rows
}

async function send(workspace: BuiltWorkspace, operation: JsonOperation, call: ValidCall, headers = {}) {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(call.params?.[name] ?? ''),
  )
  const requestId = randomUUID()
  const response = await fetch(`${api}${path}?${new URLSearchParams(call.query)}`, {
    method: operation.method.toUpperCase(),
    headers: {
      ...(call.user
        ? {
            cookie: call.user.cookie,
            'sec-fetch-site': 'same-origin',
            ...(operation.workspace !== 'none' && { 'tributary-workspace': workspace.id }),
          }
        : { authorization: `Bearer ${workspace.key}` }),
      'content-type': 'application/json',
      'x-request-id': requestId,
      ...headers,
    },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
  })
  return { requestId, status: response.status, text: await response.text() }
}

test('only operations that visitors and shops call are not audited', () => {
  const writes = operations.filter(({ kind, method }) => kind === 'json' && method !== 'get') as JsonOperation[]
  const others = writes.filter((operation) => !isRecorded(operation)).map(({ id }) => id)
  const known = `retrieveAnalyticsBatch simulateReward trackCustomer trackLead trackSale trackRefund
    checkLinks checkQrDesign recheckDomain createInstallCheck`
  expect(others.sort()).toEqual(known.split(/\s+/).sort())
})

describe.each(audited)('$id', (operation) => {
  test('leaves one entry with its actor and without secrets; a replay and a failed call leave none', async () => {
    const workspace = await buildWorkspace(platform)
    const calls = validWrites(platform, workspace)
    const build = calls[operation.id]
    if (!build) throw new Error(`valid-writes.ts has no call of ${operation.id}`)
    const call = await build()
    const key = { 'idempotency-key': randomUUID() }

    const done = await send(workspace, operation, call)
    expect(done.status, done.text).toBe(operation.status)
    const [entry, ...more] = await entries(done.requestId)
    // The installation keeps the entry of a workspace whose own log is erased.
    expect(more).toEqual(
      operation.id === 'deleteWorkspace' ? [expect.objectContaining({ workspace_id: 'installation' })] : [],
    )
    expect(entry).toMatchObject({
      actor_kind: call.user ? 'user' : 'key',
      actor_id: call.user?.id ?? workspace.keyId,
      credential: call.user ? expect.any(String) : workspace.keyId,
      operation: operation.id,
    })
    expect(entry?.target_ids).not.toEqual([])
    for (const secret of [secretPassword, personalName, 'ada.personal', 'whsec_', 'trib_'])
      expect(entry?.text).not.toContain(secret)

    const failed = await send({ ...workspace, key: `${workspace.key}x` }, operation, { ...call, user: undefined })
    expect(failed.status).toBe(401)
    expect(await entries(failed.requestId)).toEqual([])

    // A user who leaves or deletes a workspace can't repeat the request.
    if (call.user) return
    const other = await buildWorkspace(platform)
    const again = await validWrites(platform, other)[operation.id]?.()
    const first = await send(other, operation, again ?? {}, key)
    expect(first.status, first.text).toBe(operation.status)
    expect(await entries(first.requestId)).toHaveLength(1)
    const replayed = await send(other, operation, again ?? {}, key)
    expect([replayed.status, replayed.text]).toEqual([first.status, first.text])
    expect(await entries(replayed.requestId)).toEqual([])
  })
})
