import { z } from 'zod'

/** An invite was created or renewed, and its link has to be e-mailed. */
export const inviteIssued = z.object({ workspaceId: z.string(), inviteId: z.string() })
export type InviteIssued = z.infer<typeof inviteIssued>

export const inviteIssuedSubject = 'changes.*.invites'

export function inviteIssuedMessage(body: InviteIssued, partition: number) {
  return { subject: `changes.${partition}.invites`, body }
}
