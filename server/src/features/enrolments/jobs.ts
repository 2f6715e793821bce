import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { forgetUnconfirmed } from './applications.ts'
import { partnerEmail, partnerEmailSubject } from './messages.ts'
import { sendEmails } from './tokens.ts'

const forgetIntervalMs = 3_600_000

export const enrolmentsJobs = [
  job({
    name: 'partner-emails',
    subject: partnerEmailSubject,
    schema: partnerEmail,
    // One at a time, because a failed e-mail repeats its whole batch.
    atOnce: 1,
    // Anybody can apply with addresses that the mail server defers; they must not stop the e-mails of others.
    mostPending: 1_000,
    attempts: 120,
    handle: sendEmails,
  }),
]

/** Deletes applications that were not confirmed before their code expired, every hour. */
export function startForgettingApplications(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'unconfirmed applications', forgetIntervalMs, async (signal) => {
    while (!signal.aborted && (await forgetUnconfirmed(platform)));
  })
}
