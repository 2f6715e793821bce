import type {
  ApplicationsQuery,
  Invite,
  InviteResult,
  NewApplication,
  PartnerApplication,
  PartnerOutcome,
} from '@tributary/contract/partner-applications'
import type { Ctx, Platform } from '../../platform/context.ts'
import { AppError, badRequest, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { groupsByNumber, requireGroup } from '../groups/service.ts'
import {
  changePartner,
  countUnconfirmed,
  deleteUnconfirmed,
  listApplicationRows,
  lockPartners,
  type Partner,
  recordActivities,
} from '../partners/service.ts'
import { findProgramWorkspace, requireProgram } from '../programs/service.ts'
import { ensureDefaultLinks, requireLinkTarget } from './default-links.ts'
import { countEmail, forgetEmailCounts, isEmailLimitReached } from './email-limit.ts'
import { chooseGroup, enrol, isConfirmed } from './enrol.ts'
import { presentPartner } from './present.ts'
import { publishPartner } from './publish.ts'
import { hasRecentToken, newToken, queueEmail, requireToken } from './tokens.ts'
import { admit, transit } from './transitions.ts'

const forgottenAtOnce = 1_000

export async function listApplications(ctx: Ctx, query: ApplicationsQuery): Promise<PartnerApplication[]> {
  await requireProgram(ctx)
  const filter = {
    groupNumber: query.groupId === undefined ? undefined : (await requireGroup(ctx, query.groupId)).number,
    country: query.country?.toUpperCase(),
  }
  const offset = (query.page - 1) * query.pageSize
  const page = { ascending: query.sortOrder === 'asc', offset, count: query.pageSize }
  const rows = await listApplicationRows(ctx, filter, page)
  const groups = await groupsByNumber(
    ctx,
    rows.map((row) => row.group_number),
  )
  return rows.map((row) => presentApplication(row, groups.get(row.group_number)?.id ?? null))
}

/** Takes an application from a visitor. The response does not reveal whether the address is known. */
export async function applyToProgram(
  platform: Platform,
  { programId, groupId, answers, ...profile }: NewApplication,
): Promise<{ confirmation: 'email' | 'none' }> {
  const workspaceId = await findProgramWorkspace(platform, programId)
  if (workspaceId === undefined) throw notFound('program', programId)
  const mustConfirm = Boolean(platform.config.SMTP_URL)
  const now = platform.now()
  const { token, columns } = newToken('confirm', now)
  const application = {
    application_id: newId('pga'),
    application_form: answers ?? null,
    ...(mustConfirm ? columns : { applied_at: now }),
  }
  await transaction(asApplicant(platform, workspaceId, profile.email), async (ctx) => {
    await requireRoomForApplication(ctx)
    const group = await chooseGroup(ctx, groupId)
    // The last code that the address got stays valid, for the application that it was sent for.
    if (mustConfirm && (await isEmailLimitReached(ctx, profile.email))) return
    const { partner, isNew } = await enrol(ctx, profile, group, 'pending', application)
    const reapplied = isNew ? partner : await reapply(ctx, partner, application)
    if (isNew && !mustConfirm) await publishApplication(ctx, partner)
    if (!reapplied || !mustConfirm) return
    await countEmail(ctx, profile.email)
    await queueEmail(ctx, reapplied, { kind: 'confirm', token })
  })
  return { confirmation: mustConfirm ? 'email' : 'none' }
}

/** Throws 429 before the address is looked up, so that the error reveals nothing about it. */
async function requireRoomForApplication(ctx: Ctx): Promise<void> {
  const most = ctx.config.UNCONFIRMED_APPLICATIONS_PER_PROGRAM
  if ((await countUnconfirmed(ctx, most)) < most) return
  throw new AppError(
    'rate_limit_exceeded',
    `This program has ${most} applications whose addresses are not confirmed, and takes no more. Try again in a day.`,
  )
}

type Application = Pick<Partner, 'application_id' | 'application_form'> &
  Partial<Pick<Partner, 'applied_at' | 'token_hash' | 'token_expires_at'>>

/** Stores another application of a rejected partner; its profile stays, because the applicant may be somebody else. */
async function reapply(ctx: Ctx, partner: Partner, application: Application): Promise<Partner | undefined> {
  const [current] = await lockPartners(ctx.db, ctx.workspaceId, [partner.number])
  if (current?.status !== 'rejected' || Number(current.reapply_at ?? 0) > ctx.now().getTime()) return undefined
  if (application.token_hash && hasRecentToken(current, ctx.now())) return undefined
  const changed = await changePartner(ctx, partner.number, application, ['rejected'])
  if (changed && application.applied_at) return submit(ctx, changed)
  return changed
}

/** Confirms the address of an application, which then counts. The group may approve it at once. */
export async function confirmApplication(platform: Platform, token: string): Promise<PartnerOutcome> {
  const found = await requireToken(platform, token)
  return transaction(asApplicant(platform, found.workspace_id, found.id), async (ctx) => {
    const [partner] = await lockPartners(ctx.db, ctx.workspaceId, [found.number])
    const isOpen = partner && (partner.status === 'rejected' || !isConfirmed(partner))
    if (!isOpen || !partner.token_hash?.equals(found.token_hash ?? Buffer.alloc(0)))
      throw badRequest('This code confirms no open application.')
    const submitted = await submit(ctx, partner, { email_confirmed_at: ctx.now() })
    const group = (await groupsByNumber(ctx, [submitted.group_number])).get(submitted.group_number)
    const { id, status } = group?.auto_approve ? await admit(ctx, submitted.number, 'approve') : submitted
    return { partnerId: id, status }
  })
}

/** Makes an application pending. */
async function submit(ctx: Ctx, { number }: Partner, columns: Partial<Partner> = {}): Promise<Partner> {
  const cleared = { token_hash: null, token_expires_at: null }
  const changes = { ...columns, ...cleared, status: 'pending' as const, applied_at: ctx.now() }
  const changed = await changePartner(ctx, number, changes, ['pending', 'rejected'])
  if (!changed) throw badRequest('This application is not open.')
  await recordActivities(ctx, [{ partnerNumber: number, kind: 'applied' }])
  await publishApplication(ctx, changed)
  return changed
}

async function publishApplication(ctx: Ctx, partner: Partner): Promise<void> {
  const group = (await groupsByNumber(ctx, [partner.group_number])).get(partner.group_number)
  await publishPartner(ctx, 'partner.application_submitted', presentApplication(partner, group?.id ?? null))
}

/** Deletes e-mail counts of past days, and some applications with an expired code. Returns whether there may be more. */
export async function forgetUnconfirmed(platform: Platform): Promise<boolean> {
  await forgetEmailCounts(platform)
  return (await deleteUnconfirmed(platform, platform.now(), forgottenAtOnce)) === forgottenAtOnce
}

/** Invites a partner, or again one that is invited or has declined. */
export async function invitePartner(ctx: Ctx, { groupId, acceptUrl, ...input }: Invite): Promise<InviteResult> {
  const { token, expiresAt, columns } = newToken('invite', ctx.now())
  const partner = await transaction(ctx, async (ctx) => {
    const target = requireLinkTarget(await requireProgram(ctx))
    const group = await chooseGroup(ctx, groupId)
    const { name, ...profile } = input
    const { partner, isNew } = await enrol(ctx, { ...profile, name: name ?? undefined }, group, 'invited', columns)
    const invited = isNew ? partner : await inviteAgain(ctx, partner, columns)
    await ensureDefaultLinks(ctx, invited, group, target)
    await countEmail(ctx, input.email)
    reportChange(ctx, { kind: 'partners', id: invited.id, after: { ...input, groupId } })
    await queueEmail(ctx, invited, { kind: 'invite', token, acceptUrl })
    return invited
  })
  return { partner: await presentPartner(ctx, partner), token, expiresAt: expiresAt.toISOString() }
}

async function inviteAgain(ctx: Ctx, { number, id }: Partner, columns: Partial<Partner>): Promise<Partner> {
  const [before] = await lockPartners(ctx.db, ctx.workspaceId, [number])
  const changed = await changePartner(ctx, number, { ...columns, status: 'invited' }, ['invited', 'declined'])
  if (!changed)
    throw badRequest(
      `The partner ${id} is ${before?.status}. Only partners that are invited or declined can be invited again.`,
    )
  await recordActivities(ctx, [{ partnerNumber: number, kind: 'invited', detail: { from: before?.status } }])
  return changed
}

/** Accepts or declines an invite for the partner that has its token. */
export async function answerInvite(
  platform: Platform,
  { token, accept }: { token: string; accept: boolean },
): Promise<PartnerOutcome> {
  const found = await requireToken(platform, token)
  if (found.status !== 'invited') throw badRequest('This code belongs to no open invite.')
  return transaction(asApplicant(platform, found.workspace_id, found.id), async (ctx) => {
    const cleared = { token_hash: null, token_expires_at: null }
    const { id, status } = accept
      ? await admit(ctx, found.number, 'accept')
      : await transit(ctx, found.number, 'decline', { columns: cleared })
    return { partnerId: id, status }
  })
}

/** The context of a visitor who applies or answers an invite. */
function asApplicant(platform: Platform, workspaceId: string, id: string): Ctx {
  const actor = { kind: 'partner' as const, id, scopes: [] }
  return { ...platform, workspaceId, plan: 'enterprise', actor, requestId: 'application' }
}

function presentApplication(row: Partner, groupId: string | null): PartnerApplication {
  return {
    id: row.application_id ?? row.id,
    createdAt: (row.applied_at ?? row.created_at).toISOString(),
    partner: {
      id: row.id,
      name: row.name,
      companyName: row.company_name,
      email: row.email,
      image: row.image,
      description: row.description,
      country: row.country,
      groupId,
      status: row.status,
      website: row.website,
      youtube: row.youtube,
      twitter: row.twitter,
      linkedin: row.linkedin,
      instagram: row.instagram,
      tiktok: row.tiktok,
    },
    applicationFormData: row.application_form,
  }
}
