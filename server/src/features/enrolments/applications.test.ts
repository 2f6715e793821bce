import { createHash } from 'node:crypto'
import { createClient } from '@tributary/contract/client'
import { createGroup } from '@tributary/contract/groups'
import {
  approvePartnerApplication,
  invitePartner,
  listPartnerApplications,
  type NewApplication,
  rejectPartnerApplication,
} from '@tributary/contract/partner-applications'
import { createPartner, getPartner, listPartners } from '@tributary/contract/partners'
import { sql } from 'kysely'
import { expect, inject, it } from 'vitest'
import { buildProgram, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { startMailServer } from '../../../test/mail-server.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import type { Platform } from '../../platform/context.ts'
import {
  answerInvite,
  applyToProgram,
  confirmApplication,
  forgetUnconfirmed,
  invitePartner as inviteAs,
} from './applications.ts'
import type { PartnerEmail } from './messages.ts'
import { sendEmails } from './tokens.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const withSmtp: Platform = { ...platform, config: { ...platform.config, SMTP_URL: 'smtp://127.0.0.1:9' } }

async function open() {
  const workspace = await buildWorkspace(platform)
  const program = await buildProgram(platform, workspace)
  const call = createClient({ url: api, token: workspace.key })
  const apply = (given: Partial<NewApplication> = {}, on = withSmtp) =>
    applyToProgram(on, { programId: program.id, email: 'ann@example.com', name: 'Ann', ...given })
  const confirm = async () => confirmApplication(platform, await knownToken(workspace.id))
  return { workspace, program, call, apply, confirm }
}

/** Replaces the token of an e-mail, which only its receiver knows. */
async function knownToken(workspaceId: string): Promise<string> {
  const token = `known-${workspaceId}`
  await sql`UPDATE partners SET token_hash = ${createHash('sha256').update(token).digest()}
    WHERE workspace_id = ${workspaceId} AND token_hash IS NOT NULL`.execute(platform.db)
  return token
}

it('an application counts once its address is confirmed, and approval creates the links', async () => {
  const { call, apply, confirm } = await open()
  const answers = [{ label: 'Why?', value: 'Because.' }]
  expect(await apply({ answers, website: 'https://ann.example', country: 'FR' })).toEqual({ confirmation: 'email' })
  expect([await call(listPartnerApplications), await call(listPartners)]).toEqual([[], []])
  const { partnerId, status } = await confirm()
  expect(status).toBe('pending')
  const [application, ...others] = await call(listPartnerApplications, { query: { country: 'fr' } })
  expect(others).toEqual([])
  expect(application).toMatchObject({
    id: expect.stringMatching(/^pga_/),
    partner: {
      id: partnerId,
      name: 'Ann',
      email: 'ann@example.com',
      website: 'https://ann.example',
      status: 'pending',
    },
    applicationFormData: answers,
  })
  expect(await call(approvePartnerApplication, { body: { partnerId } })).toEqual({ partnerId })
  const partner = await call(getPartner, { params: { id: partnerId } })
  expect(partner).toMatchObject({ status: 'approved', links: [{ key: 'ann' }], applicationId: application?.id })
  expect(partner.application).toMatchObject({ rejectionReason: null, reviewedAt: expect.any(String) })
  await expect(call(approvePartnerApplication, { body: { partnerId } })).rejects.toMatchObject({ status: 400 })
  await expect(call(approvePartnerApplication, { body: { partnerId: 'pn_x' } })).rejects.toMatchObject({ status: 404 })
})

it('a group can approve confirmed applications at once', async () => {
  const { call, apply, confirm } = await open()
  const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g', autoApprove: true } })
  await apply({ groupId })
  const { partnerId, status } = await confirm()
  expect(status).toBe('approved')
  expect(await call(getPartner, { params: { id: partnerId } })).toMatchObject({ groupId, links: [{ key: 'ann' }] })
})

it('without SMTP an application counts at once, but is never approved automatically', async () => {
  const { program, call } = await open()
  const { id: groupId } = await call(createGroup, { body: { name: 'g', slug: 'g', autoApprove: true } })
  const input = { programId: program.id, groupId, email: 'ann@example.com', name: 'Ann' }
  expect(await applyToProgram(platform, input)).toEqual({ confirmation: 'none' })
  expect(await call(listPartnerApplications, { query: { groupId } })).toMatchObject([
    { partner: { status: 'pending' } },
  ])
  await expect(applyToProgram(platform, { ...input, programId: 'prog_unknown' })).rejects.toMatchObject({ status: 404 })
  const send = () => fetch(`${api}/partners/applications`, { method: 'POST', body: JSON.stringify(input) })
  const statuses = [(await send()).status, (await send()).status, (await send()).status, (await send()).status]
  expect(statuses.at(-1)).toBe(429)
  expect(await call(listPartnerApplications)).toHaveLength(1)
})

it('an unconfirmed application neither blocks the address nor lasts', async () => {
  const { workspace, call, apply, confirm } = await open()
  await apply({ name: 'Impostor' })
  await apply({ name: 'Ann' })
  const partner = await call(createPartner, { body: { email: 'ann@example.com', name: 'Real' } })
  expect(partner).toMatchObject({ status: 'approved', name: 'Real', links: [{ key: 'real' }], applicationId: null })
  await expect(confirm()).rejects.toMatchObject({ status: 404 })
  expect(await apply()).toEqual({ confirmation: 'email' })
  expect(await call(listPartners)).toMatchObject([{ status: 'approved', name: 'Real' }])
  await apply({ email: 'late@example.com' })
  const token = await knownToken(workspace.id)
  const later: Platform = { ...platform, now: () => new Date(Date.now() + 3 * 86_400_000) }
  await expect(confirmApplication(later, token)).rejects.toMatchObject({ status: 410, code: 'invite_expired' })
  await forgetUnconfirmed(later)
  await expect(confirmApplication(platform, token)).rejects.toMatchObject({ status: 404 })
  expect(await call(listPartners)).toHaveLength(1)
})

it('an address gets one e-mail an hour, and its code confirms the application that it was sent for', async () => {
  const { workspace, call, apply, confirm } = await open()
  const tokenHash = async () => {
    const { rows } = await sql<{ token_hash: Buffer }>`SELECT token_hash FROM partners
      WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    return rows[0]?.token_hash.toString('hex')
  }
  const after = (minutes: number): Platform => ({ ...withSmtp, now: () => new Date(Date.now() + minutes * 60_000) })
  const stranger = { name: 'Stranger', website: 'https://stranger.example' }
  const answers = [{ label: 'Why?', value: 'Because.' }]
  await apply({ name: 'Ann', answers })
  const first = await tokenHash()
  await Promise.all([apply(stranger), apply(stranger), apply(stranger, after(50))])
  expect([await tokenHash(), (await queuedEmails(workspace.id)).length]).toEqual([first, 1])
  const { partnerId } = await confirm()
  expect(await call(listPartnerApplications)).toMatchObject([
    { partner: { name: 'Ann', website: null }, applicationFormData: answers },
  ])
  await call(rejectPartnerApplication, { body: { partnerId, reapplicationTimeframe: 'instant' } })
  await apply({ answers: [{ label: 'Why?', value: 'Again.' }] }, after(120))
  await apply({ answers: [{ label: 'Why?', value: 'Stranger' }] }, after(150))
  await confirm()
  expect(await call(listPartnerApplications)).toMatchObject([{ applicationFormData: [{ value: 'Again.' }] }])
})

it('an application after an hour replaces an unconfirmed one together with its code', async () => {
  const { workspace, call, apply, confirm } = await open()
  await apply({ name: 'Stranger' })
  const former = await knownToken(workspace.id)
  await apply({ name: 'Ann' }, { ...withSmtp, now: () => new Date(Date.now() + 70 * 60_000) })
  await expect(confirmApplication(platform, former)).rejects.toMatchObject({ status: 404 })
  await confirm()
  expect(await call(listPartnerApplications)).toMatchObject([{ partner: { name: 'Ann' } }])
})

it('an address gets three e-mails a day, of applications and invites together, and the error says when to retry', async () => {
  const { workspace, apply } = await open()
  const on = (hours: number): Platform => ({
    ...withSmtp,
    now: () => new Date(Date.UTC(2099, 0, 1) + hours * 3_600_000),
  })
  for (const hours of [1, 3, 5, 7]) expect(await apply({}, on(hours))).toEqual({ confirmation: 'email' })
  expect(await queuedEmails(workspace.id)).toHaveLength(3)
  const invite = (email: string, hours: number, config = withSmtp.config) =>
    inviteAs(contextIn({ ...on(hours), config }, workspace.id), { email })
  await expect(invite('ann@example.com', 8)).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('Try again after 2099-01-02T00:00:00Z'),
  })
  await invite('ann@example.com', 25)
  await invite('bob@example.com', 25)
  const strict = { ...withSmtp.config, PARTNER_EMAILS_PER_DAY: 2 }
  await expect(invite('cleo@example.com', 26, strict)).rejects.toMatchObject({
    status: 429,
    message: expect.stringContaining('PARTNER_EMAILS_PER_DAY'),
  })
  expect(await queuedEmails(workspace.id)).toHaveLength(5)
})

it('a program takes no more applications while too many addresses are not confirmed', async () => {
  const { workspace, apply, confirm } = await open()
  const strict = { ...withSmtp, config: { ...withSmtp.config, UNCONFIRMED_APPLICATIONS_PER_PROGRAM: 2 } }
  await apply({ email: 'one@example.com' }, strict)
  await apply({ email: 'two@example.com' }, strict)
  const third = () => apply({ email: 'three@example.com' }, strict)
  await expect(third()).rejects.toMatchObject({ status: 429, message: expect.stringContaining('2 applications') })
  await sql`UPDATE partners SET token_hash = NULL
    WHERE workspace_id = ${workspace.id} AND email = 'one@example.com'`.execute(platform.db)
  await confirm()
  expect(await third()).toEqual({ confirmation: 'email' })
})

it('a rejected partner may apply again at once, after 30 days, or never', async () => {
  const { call, apply, confirm } = await open()
  const reject = async (given: object) => {
    const [application] = await call(listPartnerApplications)
    const partnerId = application?.partner.id ?? ''
    return call(rejectPartnerApplication, { body: { partnerId, ...given } })
  }
  await apply()
  await confirm()
  await expect(reject({ flagForFraud: true })).rejects.toMatchObject({ status: 400 })
  const flag = { flagForFraud: true, flagForFraudReason: 'r', reapplicationTimeframe: 'instant' }
  await expect(reject(flag)).rejects.toMatchObject({ status: 400 })
  const reasons = { rejectionReason: 'notTheRightFit' as const, rejectionNote: 'sorry' }
  const { partnerId } = await reject({ reapplicationTimeframe: 'instant', ...reasons })
  expect(await call(getPartner, { params: { id: partnerId } })).toMatchObject({
    status: 'rejected',
    application: { ...reasons, reviewedAt: expect.any(String) },
  })
  await apply()
  expect(await confirm()).toEqual({ partnerId, status: 'pending' })
  await reject({})
  await apply()
  await expect(confirm()).rejects.toMatchObject({ status: 404 })
  const month: Platform = { ...withSmtp, now: () => new Date(Date.now() + 31 * 86_400_000) }
  await apply({}, month)
  expect(await confirm()).toEqual({ partnerId, status: 'pending' })
  await reject({ reapplicationTimeframe: 'never' })
  await apply({}, { ...withSmtp, now: () => new Date('2099-01-01') })
  await expect(confirm()).rejects.toMatchObject({ status: 404 })
  expect(await call(approvePartnerApplication, { body: { partnerId } })).toEqual({ partnerId })
})

it('an invited partner has links, and accepts or declines with the code', async () => {
  const { call } = await open()
  const invite = (email: string) => call(invitePartner, { body: { email, acceptUrl: 'https://example.com/join' } })
  const { partner, token, expiresAt } = await invite('ann@example.com')
  expect(partner).toMatchObject({ status: 'invited', links: [{ key: 'ann' }] })
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now())
  const renewed = await invite('ann@example.com')
  const accept = (token: string, accept = true) => answerInvite(platform, { token, accept })
  await expect(accept(token)).rejects.toMatchObject({ status: 404 })
  const late: Platform = { ...platform, now: () => new Date(Date.now() + 15 * 86_400_000) }
  const tooLate = answerInvite(late, { token: renewed.token, accept: true })
  await expect(tooLate).rejects.toMatchObject({ status: 410, code: 'invite_expired' })
  expect(await accept(renewed.token)).toEqual({ partnerId: partner.id, status: 'approved' })
  await expect(accept(renewed.token)).rejects.toMatchObject({ status: 404 })
  await expect(invite('ann@example.com')).rejects.toMatchObject({ status: 400 })
  const other = await invite('bob@example.com')
  expect(await accept(other.token, false)).toEqual({ partnerId: other.partner.id, status: 'declined' })
  expect((await invite('bob@example.com')).partner).toMatchObject({ id: other.partner.id, status: 'invited' })
  const response = await fetch(`${api}/partners/invites/accept`, { method: 'POST', body: '{"token":"unknown"}' })
  expect(response.status).toBe(404)
})

it('the code of an application arrives by e-mail, and confirms it', async () => {
  const { workspace, apply } = await open()
  const { port, said } = await startMailServer()
  const settings = { SMTP_URL: `smtp://127.0.0.1:${port}`, EMAIL_FROM: 'Tributary <hello@tributary.example>' }
  const withMail: Platform = { ...platform, config: { ...platform.config, ...settings } }
  await apply({}, withMail)
  await sendEmails(withMail, await queuedEmails(workspace.id))
  expect(said).toContain('RCPT TO:<ann@example.com>')
  expect(said).toContain('From: Tributary <hello@tributary.example>')
  expect(said.join(' ')).toMatch(/Subject: Confirm your application to /)
  const code = said.find((line) => /^[\w-]{32}$/.test(line)) ?? ''
  expect(await confirmApplication(platform, code)).toMatchObject({ status: 'pending' })
  said.length = 0
  await sendEmails(withMail, await queuedEmails(workspace.id))
  expect(said).toEqual([])
})

it('an e-mail that the mail server refuses is an error, so that the job repeats it', async () => {
  const { workspace, apply } = await open()
  const { port } = await startMailServer({ RCPT: '452 later' })
  const config = { ...platform.config, SMTP_URL: `smtp://127.0.0.1:${port}` }
  await apply({}, { ...platform, config })
  await expect(sendEmails({ ...platform, config }, await queuedEmails(workspace.id))).rejects.toThrow('later')
})

async function queuedEmails(workspaceId: string): Promise<PartnerEmail[]> {
  const result = await sql<{ body: PartnerEmail }>`SELECT body FROM (SELECT body, workspace_id, subject FROM outbox
    UNION ALL SELECT body, workspace_id, subject FROM outbox_published) AS o
    WHERE workspace_id = ${workspaceId} AND subject LIKE '%.partner-emails'`.execute(platform.db)
  return result.rows.map(({ body }) => body)
}
