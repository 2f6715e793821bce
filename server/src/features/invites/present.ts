import type { Invite } from '@tributary/contract/invites'
import type { InviteRow, InviteStatus } from './store.ts'

export function presentInvite(row: InviteRow, now: Date): Invite {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: inviteStatus(row, now),
    invitedBy: row.invited_by,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
  }
}

export function inviteStatus(row: Pick<InviteRow, 'accepted_at' | 'expires_at'>, now: Date): InviteStatus {
  if (row.accepted_at) return 'accepted'
  return row.expires_at <= now ? 'expired' : 'pending'
}
