import { AppError } from '../../../platform/errors.ts'
import { requireWebhook } from '../../webhooks/service.ts'
import type { Section } from '../compose.ts'
import { oneLine } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import { formatTime, pageUrl } from './format.ts'

const longestName = 80

export async function describeDisabledWebhook(
  recipient: Recipient,
  { subject, occasion }: { subject: string; occasion: string },
): Promise<Section | undefined> {
  const webhook = await requireWebhook(recipient.ctx, subject).catch((error: unknown) => {
    if (error instanceof AppError) return undefined
    throw error
  })
  // It was enabled again, deleted, or disabled by a person.
  if (!webhook?.disabled_at || webhook.disabled_reason === 'asked') return undefined
  if (occasion !== '' && webhook.disabled_at.toISOString() !== occasion) return undefined
  const name = oneLine(webhook.name, longestName)
  const since = webhook.failing_since ? ` since ${formatTime(webhook.failing_since, recipient.workspace)}` : ''
  const cause =
    webhook.disabled_reason === 'gone'
      ? 'Its receiver answered 410, which says that it does not want any more events.'
      : `Every call to its receiver has failed${since}.`
  return {
    title: `The webhook “${name}” was disabled`,
    sentences: [
      `${cause} It gets no new events. Its address: ${webhook.url}`,
      'Repair the receiver, then enable the webhook: deliveries that still wait resume. Events are stored for 30 days, so you can resend what failed.',
    ],
    action: { label: 'Open the webhooks', url: pageUrl(recipient, 'settings/webhooks') },
  }
}
