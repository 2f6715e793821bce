import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { domainBroken, domainBrokenSubject } from '../domains/messages.ts'
import { webhookDisabled, webhookDisabledSubject } from '../webhooks/messages.ts'
import { queueBrokenDomains, queueDisabledWebhooks, queueExpiringKeys } from './queue.ts'
import { runDueSchedule } from './scheduled.ts'
import { endInterruptedNotifications, sendDue } from './send.ts'
import { pruneSome } from './service.ts'

export const notificationsJobs = [
  job({
    name: 'notify-of-broken-domains',
    subject: domainBrokenSubject,
    schema: domainBroken,
    handle: queueBrokenDomains,
  }),
  job({
    name: 'notify-of-disabled-webhooks',
    subject: webhookDisabledSubject,
    schema: webhookDisabled,
    handle: queueDisabledWebhooks,
  }),
]

const secondMs = 1_000

/** Finds what members are notified of, and sends the e-mails. All workers share the work. */
export function startNotifications(platform: Platform): AsyncDisposable {
  const parts = [
    startInterval(platform, 'send notifications', 5 * secondMs, async (signal) => {
      while (!signal.aborted && (await sendDue(platform)));
    }),
    startInterval(platform, 'end interrupted notifications', 60 * secondMs, () =>
      endInterruptedNotifications(platform),
    ),
    startInterval(platform, 'scheduled notifications', 30 * secondMs, async (signal) => {
      while (!signal.aborted && (await runDueSchedule(platform)));
    }),
    startInterval(platform, 'expiring keys', 600 * secondMs, async (signal) => {
      while (!signal.aborted && (await queueExpiringKeys(platform)));
    }),
    startInterval(platform, 'prune notifications', 3_600 * secondMs, async (signal) => {
      while (!signal.aborted && (await pruneSome(platform)));
    }),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}
