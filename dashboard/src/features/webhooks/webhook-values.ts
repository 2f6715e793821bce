import type { OperationAnswer, OperationInput } from '@tributary/contract/client'
import type { Trigger } from '@tributary/contract/webhooks'

export type Webhook = OperationAnswer<'listWebhooks'>[number]
export type Delivery = OperationAnswer<'listWebhookDeliveries'>[number]
export type DeliveryInFull = OperationAnswer<'getWebhookDelivery'>

/** What the fields of the form contain. */
export type WebhookValues = {
  name: string
  url: string
  triggers: readonly Trigger[]
  linkScope: Webhook['linkScope']
  folderIds: readonly string[]
  linkIds: readonly string[]
}
export type WebhookField = keyof WebhookValues
export const webhookFields: readonly WebhookField[] = ['name', 'url', 'triggers', 'linkScope', 'folderIds', 'linkIds']

type NewWebhook = NonNullable<OperationInput<'createWebhook'>['body']>
type WebhookPatch = NonNullable<OperationInput<'updateWebhook'>['body']>

export const blankValues: WebhookValues = {
  name: '',
  url: '',
  triggers: ['lead.created', 'sale.created'],
  linkScope: 'workspace',
  folderIds: [],
  linkIds: [],
}

/** The values of a webhook. Which links it is limited to is stored with the links, so the form begins without them. */
export function webhookValues({ name, url, triggers, linkScope, folderIds }: Webhook): WebhookValues {
  return { name, url, triggers, linkScope, folderIds, linkIds: [] }
}

export function newWebhookBody({ name, url, triggers, linkScope, folderIds, linkIds }: WebhookValues): NewWebhook {
  return {
    name: name.trim(),
    url: withScheme(url.trim()),
    triggers: [...triggers],
    linkScope,
    ...(linkScope === 'folders' && { folderIds: [...folderIds] }),
    ...(linkScope === 'links' && { linkIds: [...linkIds] }),
  }
}

/** The body that changes a webhook: only what differs. */
export function webhookPatchBody(before: WebhookValues, after: WebhookValues): WebhookPatch {
  const next = newWebhookBody(after)
  const isSame = (one: readonly string[], other: readonly string[]) =>
    [...one].sort().join() === [...other].sort().join()
  const isOtherScope = before.linkScope !== after.linkScope
  return {
    ...(next.name !== before.name && { name: next.name }),
    ...(next.url !== before.url && { url: next.url }),
    ...(!isSame(before.triggers, after.triggers) && { triggers: next.triggers }),
    ...(isOtherScope && { linkScope: next.linkScope }),
    ...(after.linkScope === 'folders' &&
      (isOtherScope || !isSame(before.folderIds, after.folderIds)) && { folderIds: next.folderIds }),
    ...(after.linkScope === 'links' && after.linkIds.length > 0 && { linkIds: next.linkIds }),
  }
}

function withScheme(url: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(url) ? url : `https://${url}`
}

export type WebhookErrors = Partial<Record<WebhookField, string>>
export type WebhookFieldsProps = {
  values: WebhookValues
  set(changed: Partial<WebhookValues>): void
  errors: WebhookErrors
  isEdit: boolean
}
