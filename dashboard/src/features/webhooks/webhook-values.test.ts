import { expect, test } from 'vitest'
import { blankValues, newWebhookBody, type WebhookValues, webhookPatchBody } from './webhook-values.ts'

const values: WebhookValues = { ...blankValues, name: ' Shop ', url: 'shop.example/hooks' }

test('a new webhook has only the links or folders of its scope', () => {
  expect(newWebhookBody({ ...values, folderIds: ['fold_1'], linkIds: ['link_1'] })).toEqual({
    name: 'Shop',
    url: 'https://shop.example/hooks',
    triggers: ['lead.created', 'sale.created'],
    linkScope: 'workspace',
  })
  expect(newWebhookBody({ ...values, linkScope: 'folders', folderIds: ['fold_1'] })).toMatchObject({
    folderIds: ['fold_1'],
  })
})

test('a change has only what differs', () => {
  const before = { ...values, name: 'Shop', url: 'https://shop.example/hooks' }
  expect(webhookPatchBody(before, { ...before, triggers: ['sale.created', 'lead.created'] })).toEqual({})
  expect(webhookPatchBody(before, { ...before, name: 'Other', triggers: ['link.created'] })).toEqual({
    name: 'Other',
    triggers: ['link.created'],
  })
})

test('folders are sent with a new scope, and links only when some were chosen', () => {
  const before = { ...values, name: 'Shop', url: 'https://shop.example/hooks', linkScope: 'links' as const }
  expect(webhookPatchBody(before, before)).toEqual({})
  expect(webhookPatchBody(before, { ...before, linkIds: ['link_1'] })).toEqual({ linkIds: ['link_1'] })
  expect(webhookPatchBody(before, { ...before, linkScope: 'folders', folderIds: ['fold_1'] })).toEqual({
    linkScope: 'folders',
    folderIds: ['fold_1'],
  })
})
