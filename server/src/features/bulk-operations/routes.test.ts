import * as contract from '@tributary/contract/bulk-operations'
import { createClient } from '@tributary/contract/client'
import { getLink, listLinks } from '@tributary/contract/links'
import { describe, expect, inject, it } from 'vitest'
import { buildLink, buildMember, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { createFolder } from '../folders/service.ts'
import { createTag } from '../tags/service.ts'
import { getBulkOperation, listBulkOperations } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const unknown = { params: { id: 'bulk_unknown' } }
const notThere = { status: 404, message: 'There is no bulk operation bulk_unknown in this workspace.' }

async function setUp() {
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: api, token: workspace.key })
  const send = async (body: object, headers = {}) => {
    const response = await fetch(`${api}/bulk-operations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${workspace.key}`, ...headers },
      body: JSON.stringify(body),
    })
    return { status: response.status, answer: (await response.json()) as contract.BulkOperation }
  }
  const wait = (id: string | null, status: string) =>
    eventually(async () => {
      const found = await call(contract.getBulkOperation, { params: { id: id ?? '' } })
      expect(found.status).toBe(status)
      return found
    }, 30_000)
  return { workspace, ctx: contextIn(platform, workspace.id), call, send, wait }
}

describe('createBulkOperation', () => {
  it('202: a worker changes the links that match, and undo gives them their former values', async () => {
    const { workspace, call, send, wait } = await setUp()
    const [link, other] = [
      await buildLink(platform, workspace, { key: 'summer-1', title: 'before' }),
      await buildLink(platform, workspace, { key: 'winter' }),
    ]
    const { status, answer } = await send({
      ...{ action: 'update', filter: { search: 'summer' }, data: { title: 'after', expiresAt: 'in 3 days' } },
    })
    expect(status).toBe(202)
    expect(answer).toMatchObject({
      ...{ id: expect.stringMatching(/^bulk_/), status: 'running', total: 1, sample: [], undoableUntil: null },
      ...{
        actor: { kind: 'key', id: workspace.keyId },
        data: { title: 'after', expiresAt: expect.stringMatching(/^20/) },
      },
    })
    expect(await wait(answer.id, 'done')).toMatchObject({ processed: 1, changed: 1, undoableUntil: expect.any(String) })
    expect(await call(getLink, { query: { linkId: link.id } })).toMatchObject({ title: 'after' })
    expect(await call(getLink, { query: { linkId: other.id } })).toMatchObject({
      title: null,
      updatedAt: other.updatedAt,
    })
    const params = { id: answer.id ?? '' }
    expect(await call(contract.undoBulkOperation, { params })).toMatchObject({ status: expect.stringMatching(/^undo/) })
    await wait(answer.id, 'undone')
    expect(await call(getLink, { query: { linkId: link.id } })).toMatchObject({ title: 'before', expiresAt: '' })
    expect(await call(contract.listBulkOperations, {})).toMatchObject([{ id: answer.id, status: 'undone' }])
    await expect(call(contract.undoBulkOperation, { params })).rejects.toMatchObject({ status: 409 })
    await expect(call(contract.cancelBulkOperation, { params })).rejects.toMatchObject({ status: 409 })
  })

  it('200: a dry run counts, shows ten links before and after, and changes nothing', async () => {
    const { workspace, ctx, call, send } = await setUp()
    const tag = await createTag(ctx, { name: 'new' })
    for (let index = 0; index < 12; index++) await buildLink(platform, workspace)
    await buildLink(platform, workspace, { archived: true })
    const before = await call(listLinks, { query: {} })
    const { status, answer } = await send({ action: 'addTags', tagIds: [tag.id], filter: {}, dryRun: true })
    expect([status, answer.id, answer.status, answer.total]).toEqual([200, null, 'dryRun', 12])
    expect(answer.sample).toHaveLength(10)
    for (const { before: link, after } of answer.sample) {
      expect(before).toContainEqual(link)
      expect(after).toEqual({ ...link, tags: [expect.objectContaining({ id: tag.id })], tagId: tag.id })
    }
    const removal = await send({ action: 'delete', filter: { showArchived: true }, dryRun: true })
    expect([removal.answer.total, removal.answer.sample[0]?.after]).toEqual([13, null])
    expect(await call(listLinks, { query: {} })).toEqual(before)
    expect(await call(contract.listBulkOperations, {})).toEqual([])
    const again = await send({ action: 'delete', filter: {}, dryRun: true }, { 'idempotency-key': 'dry' })
    expect(again.status).toBe(200)
  })

  it('400, 404 and 422: for a missing field and unknown objects', async () => {
    const { send } = await setUp()
    const cases: [object, number][] = [
      [{ action: 'update' }, 400],
      [{ action: 'update', filter: {} }, 400],
      [{ action: 'update', filter: {}, data: {} }, 400],
      [{ action: 'move', filter: {} }, 400],
      [{ action: 'addTags', filter: {} }, 400],
      [{ action: 'delete', filter: { nonsense: 1 } }, 400],
      [{ action: 'erase', filter: {} }, 422],
      [{ action: 'move', folderId: 'fold_unknown', filter: {} }, 404],
      [{ action: 'addTags', tagIds: ['tag_unknown'], filter: {} }, 422],
      [{ action: 'update', data: { url: 'nonsense' }, filter: {} }, 422],
      [{ action: 'update', data: { expiresAt: 'nonsense' }, filter: {} }, 422],
    ]
    for (const [body, status] of cases) expect((await send(body)).status, JSON.stringify(body)).toBe(status)
  })

  it('403: a viewer starts nothing, and reads operations', async () => {
    const { workspace } = await setUp()
    const { cookie } = await buildMember(platform, workspace, 'viewer')
    const headers = { cookie, 'sec-fetch-site': 'same-origin', 'tributary-workspace': workspace.id }
    const body = JSON.stringify({ action: 'delete', filter: {} })
    expect((await fetch(`${api}/bulk-operations`, { method: 'POST', headers, body })).status).toBe(403)
    expect((await fetch(`${api}/bulk-operations`, { headers })).status).toBe(200)
  })
})

it('404: reading, canceling and undoing an unknown operation', async () => {
  const { call } = await setUp()
  for (const operation of [contract.getBulkOperation, contract.cancelBulkOperation, contract.undoBulkOperation])
    await expect(call(operation, unknown)).rejects.toMatchObject(notThere)
})

it('404: a member from whom a folder is hidden does not see operations of others', async () => {
  const { workspace, ctx, send, wait } = await setUp()
  const hidden = await createFolder(ctx, { name: 'hidden', accessLevel: null })
  await buildLink(platform, workspace)
  const { answer } = await send({ action: 'move', folderId: hidden.id, filter: {} })
  await wait(answer.id, 'done')
  const restricted = { ...ctx, folderAccess: { hidden: [hidden.id], readOnly: [] } }
  await expect(getBulkOperation(restricted, answer.id ?? '')).rejects.toMatchObject({ code: 'not_found' })
  expect(await listBulkOperations(restricted, contract.listBulkOperations.query.parse({}))).toEqual([])
})
