import { job } from '../../platform/jobs.ts'
import { inviteIssued, inviteIssuedSubject } from './messages.ts'
import { sendInvites } from './send.ts'

export const invitesJobs = [
  job({ name: 'send-invites', subject: inviteIssuedSubject, schema: inviteIssued, atOnce: 1, handle: sendInvites }),
]
