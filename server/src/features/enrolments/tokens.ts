import { createHash, randomBytes } from 'node:crypto'
import type { Ctx, Platform } from '../../platform/context.ts'
import { sendEmail } from '../../platform/email.ts'
import { AppError } from '../../platform/errors.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { withParameters } from '../../platform/query-string.ts'
import { seal, unseal } from '../../platform/seal.ts'
import { findPartner, findPartnerByToken, type Partner } from '../partners/service.ts'
import { findProgram } from '../programs/service.ts'
import { type PartnerEmail, partnerEmailMessage } from './messages.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const lifetimeDays = { invite: 14, confirm: 2 }

/** A new token with the columns that remember its hash. */
export function newToken(kind: PartnerEmail['kind'], now: Date) {
  const token = randomBytes(24).toString('base64url')
  const expiresAt = new Date(now.getTime() + lifetimeDays[kind] * dayMs)
  return { token, expiresAt, columns: { token_hash: hashToken(token), token_expires_at: expiresAt } }
}

/**
 * Whether the address of an applicant got a code less than an hour ago. An address gets one e-mail an hour, however many
 * visitors apply with it, and the code confirms only the application that it was sent for.
 */
export function hasRecentToken({ token_hash, token_expires_at }: Partner, now: Date): boolean {
  const sentAt = (token_expires_at?.getTime() ?? 0) - lifetimeDays.confirm * dayMs
  return token_hash !== null && now.getTime() - sentAt < hourMs
}

/** Finds the partner that a token was sent to. Throws 404 for an unknown token and 410 for an expired one. */
export async function requireToken(platform: Pick<Platform, 'db' | 'now'>, token: string): Promise<Partner> {
  const partner = await findPartnerByToken(platform.db, hashToken(token))
  if (!partner) throw new AppError('not_found', 'This code is unknown, or it was used already.')
  if ((partner.token_expires_at?.getTime() ?? 0) <= platform.now().getTime())
    throw new AppError('invite_expired', 'This code has expired. Ask for a new one.')
  return partner
}

/** Queues an e-mail with a token, in the caller's transaction. */
export async function queueEmail(
  ctx: Ctx,
  { id: partnerId }: Partner,
  { kind, token, acceptUrl }: { kind: PartnerEmail['kind']; token: string; acceptUrl?: string },
): Promise<void> {
  const { config, workspaceId } = ctx
  const sealedToken = seal(config.ENCRYPTION_KEYS, partnerId, token).toString('base64')
  const body = { workspaceId, partnerId, kind, sealedToken, ...(acceptUrl && { acceptUrl }) }
  await publish(ctx, partnerEmailMessage(body, hashPartition(workspaceId, config.EVENT_PARTITIONS)))
}

export async function sendEmails(platform: Platform, messages: PartnerEmail[]): Promise<void> {
  for (const { workspaceId, partnerId, kind, sealedToken, acceptUrl } of messages) {
    const { db, config } = platform
    const token = unseal(config.ENCRYPTION_KEYS, partnerId, Buffer.from(sealedToken, 'base64'))
    // An unconfirmed application is found by its token only.
    const partner =
      (await findPartnerByToken(db, hashToken(token))) ?? (await findPartner({ db, workspaceId }, { partnerId }))
    const program = await findProgram({ db, workspaceId })
    if (!partner?.email || !program || !partner.token_hash?.equals(hashToken(token))) continue
    await sendEmail(platform, { to: partner.email, ...writeEmail(kind, program.name, token, acceptUrl) })
  }
}

function writeEmail(kind: PartnerEmail['kind'], program: string, token: string, acceptUrl: string | undefined) {
  const name = program.replaceAll(/\s+/g, ' ')
  if (kind === 'confirm') {
    const text = `Somebody, probably you, applied to the partner program "${name}" with this address.
To confirm it, enter this code where you applied:

${token}

The code is valid for ${lifetimeDays.confirm} days. If you did not apply, ignore this e-mail.
`
    return { subject: `Confirm your application to ${name}`, text }
  }
  const text = `You are invited to the partner program "${name}".
${acceptUrl ? `To accept, open\n\n${withToken(acceptUrl, token)}` : `Your invite code is\n\n${token}`}

The invite is valid for ${lifetimeDays.invite} days.
`
  return { subject: `Invite to the partner program ${name}`, text }
}

function withToken(acceptUrl: string, token: string): string {
  return withParameters(acceptUrl, { token })
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
