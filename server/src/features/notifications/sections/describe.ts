import type { NotificationKind } from '@tributary/contract/notifications'
import type { Section } from '../compose.ts'
import type { Recipient } from '../recipients.ts'
import { describeBrokenDomain } from './broken-domain.ts'
import { describeDisabledWebhook } from './disabled-webhook.ts'
import { describeExpiringKey } from './expiring-key.ts'
import { describeUnusualClicks } from './unusual-clicks.ts'
import { describeWeek } from './week.ts'

export type Occasion = { kind: NotificationKind; subject: string; occasion: string; facts: unknown }
export type Describe = (recipient: Recipient, occasion: Omit<Occasion, 'kind'>) => Promise<Section | undefined>

const describers: Record<NotificationKind, Describe> = {
  domain_broken: describeBrokenDomain,
  webhook_disabled: describeDisabledWebhook,
  key_expiring: describeExpiringKey,
  clicks_unusual: describeUnusualClicks,
  weekly_report: describeWeek,
}

/** Describes a notification with what this person may see now; undefined if it no longer holds, or is not theirs to see. */
export function describe(recipient: Recipient, { kind, ...occasion }: Occasion): Promise<Section | undefined> {
  return describers[kind](recipient, occasion)
}
