import type { Platform } from '../../platform/context.ts'
import { job } from '../../platform/jobs.ts'
import { startInterval } from '../../platform/schedule.ts'
import { inviteIssued, inviteIssuedSubject } from './messages.ts'
import { forgetSentInvites, sendInvites } from './send.ts'

export const invitesJobs = [
  job({ name: 'send-invites', subject: inviteIssuedSubject, schema: inviteIssued, atOnce: 1, handle: sendInvites }),
]

const intervalMs = 600_000

/** Forgets in every worker whom invites were e-mailed to, a day after. */
export function startForgettingInvites(platform: Platform): AsyncDisposable {
  return startInterval(platform, 'forget sent invites', intervalMs, () => forgetSentInvites(platform))
}
