import { randomBytes } from 'node:crypto'
import type { Invite, InviteResults, InvitesQuery, NewInvite } from '@tributary/contract/invites'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, conflict, notFound } from '../../platform/errors.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { savepoint, transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { forgetPersons } from '../audit/service.ts'
import { findUserByEmail } from '../auth/service.ts'
import { countMembers, memberAccess, requireGrantable, requireProof } from '../members/service.ts'
import { findUser } from '../tokens/service.ts'
import { requireRoom } from '../workspaces/service.ts'
import { acceptInvite, readOffer } from './accept.ts'
import { recordEmail, requireEmailRoom } from './email-limits.ts'
import { inviteIssuedMessage } from './messages.ts'
import { presentInvite } from './present.ts'
import { issueLink } from './send.ts'
import {
  countOpenInvites,
  deleteInvite,
  deleteInvitesTo,
  deleteOpenInvitesBy,
  hasOpenInvite,
  insertInvite,
  replaceSecret,
  selectInvite,
  selectInvites,
} from './store.ts'

const validMs = 14 * 24 * 3_600_000
const hashBytes = 32

export async function createInvites(ctx: Ctx, input: NewInvite | { invites: NewInvite[] }): Promise<InviteResults> {
  if (!('invites' in input)) {
    const invite = await transaction(ctx, (ctx) => createInvite(ctx, input))
    return { invites: [{ email: input.email, invite, error: null }] }
  }
  const invites = await transaction(ctx, async (ctx) => {
    const results: InviteResults['invites'] = []
    for (const given of input.invites) results.push(await attempt(ctx, given))
    return results
  })
  return { invites }
}

export async function listInvites(ctx: Ctx, query: InvitesQuery): Promise<Invite[]> {
  const now = ctx.now()
  const selection = {
    status: query.status,
    now,
    sort: query.sortBy,
    ascending: query.sortOrder === 'asc',
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  }
  const rows = await selectInvites(ctx.db, ctx.workspaceId, selection)
  return rows.map((row) => presentInvite(row, now))
}

/** Extends an invite by 14 days; the worker e-mails a new link, and the former one stops working at once. */
export async function renewInvite(ctx: Ctx, id: string): Promise<Invite> {
  return transaction(ctx, async (ctx) => {
    const invite = await selectInvite(ctx.db, ctx.workspaceId, id)
    if (!invite) throw notFound('invite', id)
    requireGrantable(ctx, invite.role)
    await requireEmailRoom(ctx, invite.email)
    const expiresAt = new Date(ctx.now().getTime() + validMs)
    const renewed = await replaceSecret(ctx.db, ctx.workspaceId, id, { hash: unusableHash(), expiresAt })
    if (!renewed) throw conflict(`The invite ${id} was accepted already. Invite the person again if they left.`)
    await announce(ctx, renewed)
    reportChange(ctx, { id, before: { expiresAt: invite.expires_at }, after: { expiresAt } })
    return presentInvite(renewed, ctx.now())
  })
}

export async function revokeInvite(ctx: Ctx, id: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const invite = await selectInvite(ctx.db, ctx.workspaceId, id)
    if (!invite) throw notFound('invite', id)
    requireGrantable(ctx, invite.role)
    if (!(await deleteInvite(ctx.db, ctx.workspaceId, id))) {
      throw conflict(`The invite ${id} was accepted already. Remove the member instead.`)
    }
    reportChange(ctx, { id, before: { email: invite.email, role: invite.role } })
    return { id }
  })
}

/** What an invite link offers, for the page that shows it; throws as the acceptance would. */
export const inviteOffer = readOffer

/** Makes a user a member by an invite link; throws 403, 404, 409 or 410. */
export const joinByInvite = acceptInvite

/** Makes a new link for an open invite, for the operator; the former link stops working. */
export const issueInviteLink = issueLink

/** Whether any workspace has an open invite for this address; such a person may sign up. */
export function isInvited(platform: Pick<Platform, 'db' | 'now'>, email: string): Promise<boolean> {
  return hasOpenInvite(platform.db, email, platform.now())
}

/** Deletes the invites to an address, and erases the address in the audit log. */
export async function forgetInvitee(platform: Pick<Platform, 'db' | 'config'>, email: string): Promise<void> {
  await forgetPersons(platform, await deleteInvitesTo(platform.db, email))
}

/** Ends the open invites of a user whose account is deleted. A trigger ends those of a former member. */
export function endInvites({ db }: Pick<Platform, 'db'>, userId: string): Promise<void> {
  return deleteOpenInvitesBy(db, userId)
}

/** Counts members and open invites together, because both use the workspace's room. */
export async function countMembersAndInvites(ctx: Pick<Ctx, 'db' | 'workspaceId'>): Promise<number> {
  return (await countMembers(ctx)) + (await countOpenInvites(ctx.db, ctx.workspaceId))
}

/** Invites one address of a list: a failure does not undo the others. */
async function attempt(ctx: Ctx, given: NewInvite): Promise<InviteResults['invites'][number]> {
  const { email } = given
  try {
    return { email, invite: await savepoint(ctx, (ctx) => createInvite(ctx, given)), error: null }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { email, invite: null, error: { code: error.code, message: error.message } }
  }
}

async function createInvite(ctx: Ctx, { email, role }: NewInvite): Promise<Invite> {
  requireGrantable(ctx, role)
  if (role === 'owner') requireProof(ctx)
  await requireRoom(ctx, 'members', () => countMembersAndInvites(ctx))
  await requireEmailRoom(ctx, email)
  const user = await findUserByEmail(ctx, email)
  if (user && (await memberAccess(ctx, ctx.workspaceId, user.id))) {
    throw conflict(`${email} is a member of this workspace already.`)
  }
  const now = ctx.now()
  const invite = await insertInvite(ctx.db, {
    id: newId('inv'),
    workspace_id: ctx.workspaceId,
    email,
    role,
    hash: unusableHash(),
    invited_by: findUser(ctx.actor),
    expires_at: new Date(now.getTime() + validMs),
  })
  if (!invite) throw conflict(`${email} has an open invite to this workspace already. Renew or revoke that one.`)
  await announce(ctx, invite)
  reportChange(ctx, { id: invite.id, after: { email, role, expiresAt: invite.expires_at } })
  return presentInvite(invite, now)
}

async function announce(ctx: Ctx, invite: { id: string; email: string }): Promise<void> {
  await recordEmail(ctx, invite)
  const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
  await publish(ctx, inviteIssuedMessage({ workspaceId: ctx.workspaceId, inviteId: invite.id }, partition))
}

/** A hash that no secret has, until the worker makes the secret that it e-mails. */
function unusableHash(): Buffer {
  return randomBytes(hashBytes)
}
