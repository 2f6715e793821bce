import { sleep } from '../../platform/clock.ts'
import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { customerErased, customerErasedSubject } from '../customers/messages.ts'
import { clickDaysClosed, clickDaysSubject } from '../ingest/messages.ts'
import { conversionSubjects } from '../track/messages.ts'
import { rewardClickDays } from './clicks.ts'
import { openEngine } from './engine.ts'
import { eraseCustomers } from './erase.ts'
import { runMaturing } from './mature.ts'
import { removeOldSpending } from './spending.ts'

// Events wake the engine; the interval finds what an event that got lost would have.
const everyMs = 500
// Under load, the engine gathers events for this long, because each batch costs round trips.
const gatherMs = 50
const matureIntervalMs = 3_600_000
const retentionIntervalMs = 3_600_000

export const commissionsJobs = [
  job({ name: 'reward-clicks', subject: clickDaysSubject, schema: clickDaysClosed, handle: rewardClickDays }),
  job({ name: 'erase-commissions', subject: customerErasedSubject, schema: customerErased, handle: eraseCustomers }),
]

/** Decides what leads, sales and refunds of partners earn. */
export function startEngine(platform: Platform): AsyncDisposable {
  const decide = openEngine(platform)
  let woken = new AbortController()
  const callback = () => woken.abort()
  const subscriptions = Object.values(conversionSubjects).map((subject) =>
    platform.nats.subscribe(subject, { callback }),
  )
  const running = startInterval(platform, 'decide commissions', gatherMs, async (signal) => {
    woken = new AbortController()
    await decide(signal)
    await sleep(everyMs, AbortSignal.any([signal, woken.signal]))
  })
  return {
    async [Symbol.asyncDispose]() {
      for (const subscription of subscriptions) subscription.unsubscribe()
      await running[Symbol.asyncDispose]()
    },
  }
}

export function startMaturing(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'mature commissions', matureIntervalMs, (signal) =>
    runMaturing(platform, platform.now(), { signal }),
  )
}

export function startSpendingRetention(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'spent limits', retentionIntervalMs, (signal) => removeOldSpending(platform, signal))
}
