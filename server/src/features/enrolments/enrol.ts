import type { NewPartner, PartnerPatch } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { conflict } from '../../platform/errors.ts'
import { violatedConstraint } from '../../platform/postgres.ts'
import { type Group, requireDefaultGroup, requireGroup } from '../groups/service.ts'
import {
  addPartner,
  changePartner,
  findPartnerByEmail,
  lockPartners,
  type Partner,
  type ProfileColumns,
  recordActivities,
  type Status,
} from '../partners/service.ts'
import { hasRecentToken } from './tokens.ts'

type Profile = Omit<PartnerPatch, 'groupId' | 'tagIds'>

/** The columns of a profile that the input sets. */
export function profileColumns(input: Profile): ProfileColumns {
  const columns = {
    email: input.email,
    name: input.name,
    tenant_id: input.tenantId,
    username: input.username,
    image: input.image,
    country: input.country,
    description: input.description,
    company_name: input.companyName,
    website: input.website,
    youtube: input.youtube,
    twitter: input.twitter,
    linkedin: input.linkedin,
    instagram: input.instagram,
    tiktok: input.tiktok,
    is_pinned: input.isPinned,
  }
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined))
}

export type Enrolled = { partner: Partner; isNew: boolean }

/**
 * Adds a partner, or replaces an unconfirmed application with the same address. Returns an existing partner unchanged, and
 * an application whose code was just sent. Needs a transaction.
 */
export async function enrol(
  ctx: Ctx,
  input: Pick<NewPartner, 'email' | 'name'> & Profile,
  group: Group,
  status: Status,
  columns: ProfileColumns = {},
): Promise<Enrolled> {
  const row = {
    ...profileColumns(input as Profile),
    ...columns,
    email: input.email,
    name: input.name || input.email,
    group_number: group.number,
    status,
  }
  const added = await addPartner(ctx, row)
  if (added) return { partner: added, isNew: true }
  const existing = await findPartnerByEmail(ctx, input.email)
  // The address is free, so the tenant id is not.
  if (!existing) throw tenantTaken(input.tenantId)
  if (isConfirmed(existing)) return { partner: existing, isNew: false }
  const [locked] = await lockPartners(ctx.db, ctx.workspaceId, [existing.number])
  if (columns.token_hash && status === 'pending' && locked && hasRecentToken(locked, ctx.now()))
    return { partner: locked, isNew: false }
  const { created_at, ...reset } = { ...noApplication, ...row, created_at: undefined }
  const taken = await changePartner(ctx, existing.number, reset, ['pending']).catch(refuseTaken(input))
  if (!taken) return { partner: (await findPartnerByEmail(ctx, input.email)) ?? existing, isNew: false }
  await recordActivities(ctx, [{ partnerNumber: taken.number, kind: status }])
  return { partner: taken, isNew: true }
}

/** Whether a partner is more than an application with an unconfirmed address. */
export function isConfirmed({ status, applied_at }: Pick<Partner, 'status' | 'applied_at'>): boolean {
  return status !== 'pending' || applied_at !== null
}

const noApplication: ProfileColumns = {
  application_id: null,
  application_form: null,
  token_hash: null,
  token_expires_at: null,
}

export function chooseGroup(ctx: Ctx, id: string | null | undefined): Promise<Group> {
  return id ? requireGroup(ctx, id) : requireDefaultGroup(ctx)
}

/** Turns violations of the unique indexes into 409. */
export function refuseTaken({ email, tenantId }: Pick<PartnerPatch, 'email' | 'tenantId'>) {
  return (error: unknown): never => {
    const constraint = violatedConstraint(error)
    if (constraint === 'partners_tenant') throw tenantTaken(tenantId)
    if (constraint === 'partners_email') throw conflict(`Another partner already has the e-mail address ${email}.`)
    throw error
  }
}

function tenantTaken(tenantId: string | null | undefined) {
  return conflict(`Another partner already has the tenantId ${tenantId}.`)
}
