import type { Platform } from '../../platform/context.ts'
import { type Job, job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { deliver, measurePending, takeDue } from './deliver.ts'
import { pruneSome } from './deliveries.ts'
import { sendDisabledEmails } from './disable.ts'
import { startDispatch } from './dispatch.ts'
import { eraseCustomerEvents, fanOut, releaseWaiting } from './fan-out.ts'
import { webhookDisabled, webhookDisabledSubject } from './messages.ts'
import type { ErasedCustomer, WebhookErasure, WebhookRelease, WebhookSource } from './service.ts'

export function sourceJob<Body>(source: WebhookSource<Body>): Job {
  return job({ ...source, handle: (platform, bodies) => fanOut(platform, source, bodies) })
}

export function releaseJob<Body>(release: WebhookRelease<Body>): Job {
  return job({ ...release, handle: (platform, bodies) => releaseWaiting(platform, release, bodies) })
}

export function erasureJob<Body extends ErasedCustomer>(erasure: WebhookErasure<Body>): Job {
  return job({ ...erasure, handle: eraseCustomerEvents })
}

export const webhooksJobs = [
  job({
    name: 'tell-of-disabled-webhooks',
    // Batch size 1: a failed batch is redelivered as a whole, so a larger one would send some e-mails twice.
    atOnce: 1,
    subject: webhookDisabledSubject,
    schema: webhookDisabled,
    handle: sendDisabledEmails,
  }),
]

const pruneIntervalMs = 60_000
const measureIntervalMs = 10_000

export function startDeliveries(platform: Platform): AsyncDisposable {
  return startDispatch(platform, { take: takeDue, deliver })
}

export function startWebhookUpkeep(platform: Platform): AsyncDisposable {
  const parts = [
    startInterval(platform, 'prune webhook events', pruneIntervalMs, async (signal) => {
      while (!signal.aborted && (await pruneSome(platform)));
    }),
    startInterval(platform, 'count pending deliveries', measureIntervalMs, () => measurePending(platform)),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}
