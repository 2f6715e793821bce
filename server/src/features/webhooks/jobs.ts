import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { webhookStream as stream } from '../../platform/nats.ts'
import { every } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { clicksStored, clicksStoredSubject } from '../ingest/messages.ts'
import { linkEvents, linkEventsSubject } from '../links/messages.ts'
import { conversionsStored, conversionsStoredSubject } from '../track/messages.ts'
import { deliver, measurePending, takeDue } from './deliver.ts'
import { pruneSome } from './deliveries.ts'
import { startDispatch } from './delivery/dispatch.ts'
import { tellOfDisabled } from './disable.ts'
import { eraseTold, tellClicks, tellConversions, tellLinks } from './fan-out.ts'
import { webhookDisabled, webhookDisabledSubject } from './messages.ts'

// A message holds many events.
const atOnce = 20

export const webhooksJobs = [
  job({ name: 'tell-links', stream, atOnce, subject: linkEventsSubject, schema: linkEvents, handle: tellLinks }),
  job({ name: 'tell-clicks', stream, atOnce, subject: clicksStoredSubject, schema: clicksStored, handle: tellClicks }),
  job({
    name: 'tell-conversions',
    stream,
    atOnce,
    subject: conversionsStoredSubject,
    schema: conversionsStored,
    handle: tellConversions,
  }),
  job({ name: 'erase-webhook-events', subject: customerErasedSubject, schema: customerErased, handle: eraseTold }),
  job({
    name: 'tell-of-disabled-webhooks',
    // Else one that fails would bring the others of its batch a second time.
    atOnce: 1,
    subject: webhookDisabledSubject,
    schema: webhookDisabled,
    handle: tellOfDisabled,
  }),
]

const pruneEveryMs = 60_000
const measureEveryMs = 10_000

export function startDeliveries(platform: Platform): AsyncDisposable {
  return startDispatch(platform, { take: takeDue, deliver })
}

export function startWebhookUpkeep(platform: Platform): AsyncDisposable {
  const parts = [
    every(platform, 'prune webhook events', pruneEveryMs, async (signal) => {
      while (!signal.aborted && (await pruneSome(platform)));
    }),
    every(platform, 'count pending deliveries', measureEveryMs, () => measurePending(platform)),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}
