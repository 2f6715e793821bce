import type { WebhookErasure } from '../webhooks/service.ts'
import { type CustomerErased, customerErased, customerErasedSubject } from './messages.ts'

export const customerErasure: WebhookErasure<CustomerErased> = {
  name: 'erase-webhook-events',
  subject: customerErasedSubject,
  schema: customerErased,
}
