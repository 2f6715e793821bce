import { createClient } from '@tributary/contract/client'
import type { Scope } from '@tributary/contract/permissions'
import {
  createWebhook,
  deleteWebhook,
  getDelivery,
  testWebhook,
  triggers,
  updateWebhook,
} from '@tributary/contract/webhooks'
import { expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { webhookScopes } from '../../roles/webhooks.ts'
import { createToken } from '../tokens/service.ts'
import { createWebhook as create, updateWebhook as update } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

// The worker sends nothing to this host, because its IP addresses are not public.
const receiver = { name: 'Receiver', url: 'https://localhost/' }
const conversion = ['analytics.read', 'customers.read', 'partners.read'] as const
const commission = ['commissions.read', 'customers.read', 'partners.read'] as const
const readers = {
  'link.created': ['links.read'],
  'link.updated': ['links.read'],
  'link.deleted': ['links.read'],
  'link.clicked': ['analytics.read'],
  'lead.created': conversion,
  'sale.created': conversion,
  'sale.refunded': conversion,
  'partner.enrolled': ['partners.read'],
  'partner.application_submitted': ['partners.read'],
  'partner.merged': ['partners.read'],
  'partner.updated': ['partners.read'],
  'commission.created': commission,
  'commission.updated': commission,
  'discount_code.created': ['partners.read'],
  'discount_code.deleted': ['partners.read'],
} as const

async function withScopes({ id }: Pick<BuiltWorkspace, 'id'>, scopes: Scope[]) {
  const { key } = await createToken(platform, { workspaceId: id, name: 'few', scopes })
  return createClient({ url: api, token: key })
}

test('a key subscribes only to events that its scopes read, and the error names the missing scopes', async () => {
  const workspace = await buildWorkspace(platform)
  const writer = await withScopes(workspace, ['webhooks.write'])
  for (const trigger of triggers) {
    const body = { ...receiver, triggers: [trigger] }
    await expect(writer(createWebhook, { body }), trigger).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining(`of the webhook's triggers: ${readers[trigger].join(', ')}.`),
    })
    const reader = await withScopes(workspace, ['webhooks.write', ...readers[trigger]])
    const { id } = await reader(createWebhook, { body })
    await reader(deleteWebhook, { params: { id } })
  }
})

test('a key without the scopes of a webhook can rename and disable it, but not send its events elsewhere', async () => {
  const workspace = await buildWorkspace(platform)
  const owner = createClient({ url: api, token: workspace.key })
  const { id } = await owner(createWebhook, { body: { ...receiver, triggers: ['link.created', 'sale.created'] } })
  const few = await withScopes(workspace, ['webhooks.write', 'links.read'])
  const change = (body: object) => few(updateWebhook, { params: { id }, body })
  for (const body of [
    { url: 'https://localhost/mine' },
    { triggers: ['link.created'] },
    { triggers: ['link.created', 'sale.created', 'partner.updated'] },
    { linkScope: 'links' },
    { disabled: false },
  ]) {
    await expect(change(body), JSON.stringify(body)).rejects.toMatchObject({ status: 403 })
  }
  expect(await change({ name: 'Renamed' })).toMatchObject({ name: 'Renamed', url: receiver.url })
  expect(await change({ disabled: true })).toMatchObject({ disabledReason: 'asked' })
})

test('a delivery shows its body only to callers who may read the event', async () => {
  const workspace = await buildWorkspace(platform)
  const owner = createClient({ url: api, token: workspace.key })
  const { id } = await owner(createWebhook, { body: { ...receiver, triggers: ['sale.created'] } })
  const { eventId } = await owner(testWebhook, { params: { id }, body: { event: 'sale.created' } })
  const few = await withScopes(workspace, ['webhooks.read', 'analytics.read'])
  expect(await few(getDelivery, { params: { id, eventId } })).toMatchObject({ eventId, body: null })
  const enough = await withScopes(workspace, ['webhooks.read', ...conversion])
  expect((await enough(getDelivery, { params: { id, eventId } })).body).toContain(eventId)
})

test('a caller with a hidden folder creates no webhook and sends no events elsewhere', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const restricted = { ...ctx, folderAccess: { hidden: ['fold_hidden'], readOnly: [] } }
  const input = { ...receiver, triggers: ['link.created' as const], linkScope: 'workspace' as const }
  const refusal = { code: 'forbidden', message: expect.stringContaining('who may read all folders') }
  const lists = { folderIds: [], linkIds: [] }
  await expect(create(restricted, webhookScopes, { ...input, ...lists })).rejects.toMatchObject(refusal)
  const { id } = await create(ctx, webhookScopes, { ...input, ...lists })
  await expect(update(restricted, webhookScopes, id, { url: 'https://localhost/mine' })).rejects.toMatchObject(refusal)
})
