import { createClient } from '@tributary/contract/client'
import { getLink } from '@tributary/contract/links'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  type NewWebhook,
  rotateWebhookSecret,
  updateWebhook,
} from '@tributary/contract/webhooks'
import { sql } from 'kysely'
import { describe, expect, inject, it } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { subscribed } from '../../../test/webhooks.ts'
import { createFolder, deleteFolder } from '../folders/service.ts'
import { openSecrets } from './secrets.ts'
import { selectWebhook } from './store.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

const as = (workspace: Pick<BuiltWorkspace, 'key'>) => createClient({ url: api, token: workspace.key })
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const unknown = { params: { id: 'whk_unknown' } }
const notThere = { status: 404, message: 'There is no webhook whk_unknown in this workspace.' }

function make(workspace: BuiltWorkspace, given: Partial<NewWebhook> = {}) {
  // The worker sends nothing to this host, because its IP addresses are not public.
  const body = { name: 'Receiver', url: 'https://localhost/', triggers: ['lead.created' as const], ...given }
  return as(workspace)(createWebhook, { body })
}

const known = (workspace: BuiltWorkspace) => subscribed(platform, workspace.id)

describe('createWebhook', () => {
  it('201: returns the webhook with its secret, which no later response has', async () => {
    const workspace = await buildWorkspace(platform)
    const { secret, ...webhook } = await make(workspace, { triggers: ['sale.created', 'lead.created', 'sale.created'] })
    expect(secret).toMatch(/^whsec_/)
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_/),
      name: 'Receiver',
      url: 'https://localhost/',
      triggers: ['sale.created', 'lead.created'],
      linkScope: 'workspace',
      folderIds: [],
      disabledAt: null,
      disabledReason: null,
      failingSince: null,
      createdAt: instant,
      updatedAt: webhook.createdAt,
    })
    expect(await as(workspace)(getWebhook, { params: { id: webhook.id } })).toEqual(webhook)
    expect(await as(workspace)(listWebhooks)).toEqual([webhook])
  })

  it('201: created webhooks are listed sorted and page by page', async () => {
    const workspace = await buildWorkspace(platform)
    for (const name of ['b', 'C', 'a']) await make(workspace, { name, url: `https://localhost/${name}` })
    const names = async (query: object) => (await as(workspace)(listWebhooks, { query })).map(({ name }) => name)
    expect(await names({})).toEqual(['b', 'C', 'a'])
    expect(await names({ sortOrder: 'desc' })).toEqual(['a', 'C', 'b'])
    expect(await names({ sortBy: 'name' })).toEqual(['a', 'b', 'C'])
    expect(await names({ sortBy: 'name', sortOrder: 'desc', pageSize: 2, page: 2 })).toEqual(['a'])
  })

  it('201: a repeat with the same Idempotency-Key returns the secret too, which is stored encrypted', async () => {
    const workspace = await buildWorkspace(platform)
    const body = JSON.stringify({ name: 'a', url: 'https://localhost/', triggers: ['link.created'] })
    const headers = { authorization: `Bearer ${workspace.key}`, 'idempotency-key': 'one' }
    const ask = async () => (await fetch(`${api}/webhooks`, { method: 'POST', headers, body })).json()
    const first = (await ask()) as { id: string; secret: string }
    expect(await ask()).toEqual(first)
    const row = await selectWebhook(platform.db, workspace.id, first.id)
    expect(row && openSecrets(platform.config.ENCRYPTION_KEYS, row, new Date())).toEqual([first.secret])
    const stored = await sql`SELECT response FROM idempotency_keys WHERE workspace_id = ${workspace.id}`.execute(
      platform.db,
    )
    expect(stored.rows).toHaveLength(1)
    expect(JSON.stringify(stored.rows)).not.toContain('whsec_')
  })

  it('201: a webhook can be limited to folders, or to links, which then have its id in `webhookIds`', async () => {
    const workspace = await buildWorkspace(platform)
    const folder = await createFolder(contextIn(platform, workspace.id), { name: 'one', accessLevel: 'write' })
    const inFolder = await make(workspace, { linkScope: 'folders', folderIds: [folder.id] })
    expect(inFolder).toMatchObject({ linkScope: 'folders', folderIds: [folder.id] })
    await deleteFolder(contextIn(platform, workspace.id), folder.id)
    expect(await as(workspace)(getWebhook, { params: { id: inFolder.id } })).toMatchObject({ folderIds: [] })

    const [one, other] = [await buildLink(platform, workspace), await buildLink(platform, workspace)]
    const url = 'https://localhost/links'
    const ofLinks = await make(workspace, { url, linkScope: 'links', linkIds: [one.id] })
    const named = async ({ id }: { id: string }) => (await as(workspace)(getLink, { query: { linkId: id } })).webhookIds
    expect([await named(one), await named(other)]).toEqual([[ofLinks.id], []])
    await as(workspace)(updateWebhook, { params: { id: ofLinks.id }, body: { linkIds: [other.id] } })
    expect([await named(one), await named(other)]).toEqual([[], [ofLinks.id]])
    await as(workspace)(deleteWebhook, { params: { id: ofLinks.id } })
    expect([await named(one), await named(other)]).toEqual([[], []])
  })

  it('201: the free plan has webhooks', async () => {
    expect(await make(await buildWorkspace(platform, { plan: 'free' }))).toBeDefined()
  })

  it('409: an address that another webhook has, even for concurrent requests', async () => {
    const workspace = await buildWorkspace(platform)
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => make(workspace)))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(refusals.map(({ status }) => status)).toEqual(Array(7).fill(409))
    expect(refusals[0].message).toContain('https://localhost/')
    await make(await buildWorkspace(platform))
  })

  it('422: unknown folders or links, invalid values and private addresses', async () => {
    const workspace = await buildWorkspace(platform)
    const refused: [Partial<NewWebhook>, string][] = [
      [{ url: 'http://127.0.0.1/' }, '`url` in the body is not on the public internet'],
      [{ linkScope: 'folders', folderIds: ['fold_unknown'] }, 'folders that do not exist: fold_unknown'],
      [{ linkScope: 'links', linkIds: ['link_unknown'] }, 'links that do not exist: link_unknown'],
      [{ triggers: [] }, '`triggers` in the body'],
      [{ name: '' }, '`name` in the body'],
    ]
    for (const [given, message] of refused) {
      await expect(make(workspace, given)).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining(message),
      })
    }
    expect(await as(workspace)(listWebhooks)).toEqual([])
    expect(await known(workspace)).toEqual({ triggers: [], ids: [] })
  })
})

describe('updateWebhook', () => {
  it("200: changes the given fields and the workspace's subscribed triggers", async () => {
    const workspace = await buildWorkspace(platform)
    const [{ secret, ...first }, second] = [
      await make(workspace),
      await make(workspace, { url: 'https://localhost/b', triggers: ['link.clicked', 'lead.created'] }),
    ]
    const ids = [first.id, second.id]
    expect(await known(workspace)).toEqual({ triggers: ['lead.created', 'link.clicked'], ids })
    const change = (id: string, body: object) => as(workspace)(updateWebhook, { params: { id }, body })
    const changed = await change(first.id, {
      name: 'Other',
      triggers: ['link.deleted'],
      url: 'https://localhost/other',
    })
    expect(changed).toEqual({
      ...first,
      name: 'Other',
      triggers: ['link.deleted'],
      url: 'https://localhost/other',
      updatedAt: instant,
    })
    expect(await change(second.id, { disabled: true })).toMatchObject({ disabledAt: instant, disabledReason: 'asked' })
    expect(await known(workspace)).toEqual({ triggers: ['link.deleted'], ids })
    expect(await change(second.id, { disabled: false })).toMatchObject({ disabledAt: null, disabledReason: null })
    expect((await known(workspace)).triggers).toEqual(['lead.created', 'link.clicked', 'link.deleted'])
  })

  it("200: concurrent changes all reach the workspace's subscribed triggers", async () => {
    const workspace = await buildWorkspace(platform)
    const made = await Promise.all(
      (['link.created', 'link.updated', 'link.deleted', 'sale.created'] as const).map((trigger) =>
        make(workspace, { url: `https://localhost/${trigger}`, triggers: [trigger] }),
      ),
    )
    const { triggers, ids } = await known(workspace)
    expect(triggers).toEqual(['link.created', 'link.deleted', 'link.updated', 'sale.created'])
    expect(ids.sort()).toEqual(made.map(({ id }) => id).sort())
  })

  it('404 for an unknown webhook, and 409 for a taken URL', async () => {
    const workspace = await buildWorkspace(platform)
    await expect(as(workspace)(updateWebhook, { ...unknown, body: { name: 'a' } })).rejects.toMatchObject(notThere)
    const [one] = [await make(workspace), await make(workspace, { url: 'https://localhost/b' })]
    const taken = as(workspace)(updateWebhook, { params: { id: one.id }, body: { url: 'https://localhost/b' } })
    await expect(taken).rejects.toMatchObject({ status: 409 })
  })
})

describe('updateWebhook with If-Match', () => {
  it('409: when the webhook has changed since it was read', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await make(workspace)
    const send = async (method: string, headers = {}, body?: object) => {
      const response = await fetch(`${api}/webhooks/${id}`, {
        method,
        headers: { authorization: `Bearer ${workspace.key}`, ...headers },
        body: body && JSON.stringify(body),
      })
      await response.json()
      return { status: response.status, tag: response.headers.get('etag') ?? '' }
    }
    const read = await send('GET')
    const changed = await send('PATCH', { 'if-match': read.tag }, { name: 'mine' })
    expect(changed).toEqual({ status: 200, tag: (await send('GET')).tag })
    expect(changed.tag).not.toBe(read.tag)
    expect((await send('PATCH', { 'if-match': read.tag }, { name: 'late' })).status).toBe(409)
    await sql`UPDATE webhooks SET failing_since = now() WHERE id = ${id}`.execute(platform.db)
    expect((await send('PATCH', { 'if-match': changed.tag }, { name: 'late' })).status).toBe(200)
  })
})

describe('deleteWebhook', () => {
  it("200: frees the webhook's URL and removes its triggers from the workspace", async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await make(workspace)
    expect(await as(workspace)(deleteWebhook, { params: { id } })).toEqual({ id })
    expect(await as(workspace)(listWebhooks)).toEqual([])
    await expect(as(workspace)(getWebhook, { params: { id } })).rejects.toMatchObject({ status: 404 })
    await expect(as(workspace)(deleteWebhook, { params: { id } })).rejects.toMatchObject({ status: 404 })
    expect(await known(workspace)).toEqual({ triggers: [], ids: [] })
    await make(workspace)
  })
})

describe('rotateWebhookSecret', () => {
  it('200: for a day, deliveries are signed with the previous secret too', async () => {
    const workspace = await buildWorkspace(platform)
    const { id, secret: former } = await make(workspace)
    const { secret } = await as(workspace)(rotateWebhookSecret, { params: { id } })
    const row = await selectWebhook(platform.db, workspace.id, id)
    const signingAt = (at: number) => row && openSecrets(platform.config.ENCRYPTION_KEYS, row, new Date(at))
    expect(signingAt(Date.now() + 23 * 3_600_000)).toEqual([secret, former])
    expect(signingAt(Date.now() + 25 * 3_600_000)).toEqual([secret])
  })

  it('404: an unknown webhook', async () => {
    const workspace = await buildWorkspace(platform)
    await expect(as(workspace)(rotateWebhookSecret, unknown)).rejects.toMatchObject(notThere)
  })
})

describe('webhookIds of a link', () => {
  it('`webhookIds` of a link lists only existing webhooks', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await make(workspace, { linkScope: 'links' })
    const link = await buildLink(platform, workspace, { webhookIds: [id, id] })
    expect(link.webhookIds).toEqual([id])
    await expect(buildLink(platform, workspace, { webhookIds: [id, 'whk_unknown'] })).rejects.toMatchObject({
      code: 'unprocessable_entity',
      message: '`webhookIds` in the body names webhooks that do not exist: whk_unknown.',
    })
  })
})
