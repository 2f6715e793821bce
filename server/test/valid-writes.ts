import { createHash, randomUUID } from 'node:crypto'
import { listCommissions } from '@tributary/contract/commissions'
import { newShare } from '@tributary/contract/shares'
import { sql } from 'kysely'
import { createCommission } from '../src/features/commissions/create.ts'
import { listCommissions as readCommissions } from '../src/features/commissions/list.ts'
import { createDiscountCode } from '../src/features/discount-codes/service.ts'
import { createDiscount } from '../src/features/discounts/service.ts'
import { applyToProgram, confirmApplication } from '../src/features/enrolments/applications.ts'
import { createFolder } from '../src/features/folders/service.ts'
import { createGroup } from '../src/features/groups/service.ts'
import { createInvites, issueInviteLink } from '../src/features/invites/service.ts'
import { deleteLink } from '../src/features/links/service.ts'
import { createNote } from '../src/features/notes/service.ts'
import { createPartnerTag } from '../src/features/partner-tags/service.ts'
import { listPrograms } from '../src/features/programs/service.ts'
import { createReward } from '../src/features/rewards/manage.ts'
import { createShare } from '../src/features/shares/service.ts'
import { createTag } from '../src/features/tags/service.ts'
import { createToken } from '../src/features/tokens/service.ts'
import { createUtmTemplate } from '../src/features/utm-templates/service.ts'
import { createView } from '../src/features/views/service.ts'
import type { Platform } from '../src/platform/context.ts'
import { newId } from '../src/platform/ids.ts'
import {
  type BuiltUser,
  type BuiltWorkspace,
  buildCustomer,
  buildLink,
  buildMember,
  buildPartner,
  buildProgram,
  buildUser,
} from './build.ts'
import { contextIn } from './context.ts'
import { buildWebhook, queueEvents } from './webhooks.ts'

/** Secrets and personal values in the calls below; no log may have them in clear text. */
export const secretPassword = 'correct-horse-battery'
export const personalName = 'Ada Personal'
const personalEmail = () => `ada.personal.${randomUUID()}@example.com`

/** A call by the workspace's key or, with `user`, by that user. */
export type ValidCall = {
  user?: BuiltUser
  params?: Record<string, string>
  query?: Record<string, string>
  body?: unknown
}

/** A valid call of each write operation in this workspace, by operation id. */
export function validWrites(platform: Platform, workspace: BuiltWorkspace): Record<string, () => Promise<ValidCall>> {
  const ctx = contextIn(platform, workspace.id)
  const name = () => `n-${randomUUID().slice(0, 8)}`
  const link = (given = {}) => buildLink(platform, workspace, given)
  const url = 'https://example.com/new'
  const program = async () => (await listPrograms(ctx, { page: 1 }))[0] ?? buildProgram(platform, workspace)
  const partner = async (given = {}) => {
    await program()
    return buildPartner(platform, workspace, given)
  }
  const group = async () => {
    await program()
    return createGroup(ctx, { name: name(), slug: name() })
  }
  const discount = async () => createDiscount(ctx, { groupId: (await group()).id, type: 'flat', amount: 1 })
  const reward = async () =>
    createReward(ctx, { groupId: (await group()).id, event: 'lead', type: 'flat', amountInCents: 1 })
  const commission = async () => {
    const { id: partnerId } = await partner()
    await createCommission(ctx, { type: 'custom', partnerId, amount: 5 })
    const [made] = await readCommissions(ctx, listCommissions.query.parse({}))
    return { id: made?.id ?? '', partnerId }
  }
  const application = async () => {
    const { id: programId } = await program()
    const config = { ...platform.config, SMTP_URL: 'smtp://127.0.0.1:9' }
    await applyToProgram({ ...platform, config }, { programId, email: personalEmail(), name: personalName })
    const token = `known-${workspace.id}`
    await sql`UPDATE partners SET token_hash = ${createHash('sha256').update(token).digest()}
      WHERE workspace_id = ${workspace.id} AND token_hash IS NOT NULL`.execute(platform.db)
    return confirmApplication(platform, token)
  }
  const webhook = (given = {}) =>
    buildWebhook(platform, workspace.id, { url: `https://localhost/${name()}`, disabled_at: new Date(), ...given })
  const token = () => createToken(platform, { workspaceId: workspace.id, name: name() })
  const failedDelivery = async () => {
    const built = await webhook({ disabled_at: null })
    const [eventId = ''] = await queueEvents(platform, [built])
    await sql`UPDATE webhook_deliveries SET status = 'failed', due_at = NULL
      WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    return { id: built.id, eventId }
  }
  const owner = () => buildMember(platform, workspace, 'owner')
  const params = { idOrSlug: workspace.id }
  const invite = async (email = personalEmail()) => {
    const { invites } = await createInvites(ctx, { email, role: 'member' })
    return { id: invites[0]?.invite?.id ?? '' }
  }
  const note = { day: '2026-02-28', text: 'Outage' }
  const share = async () => createShare(ctx, newShare.parse({ linkId: (await link()).id, password: secretPassword }))
  const sharedView = () => ({ screen: 'links' as const, name: name(), query: {}, visibility: 'shared' as const })
  // A worker would end a running operation before the call.
  const bulkOperation = async (status: string) => {
    const id = newId('bulk')
    await sql`INSERT INTO bulk_operations (id, workspace_id, actor_kind, actor_id, action, filter, status, total, finished_at)
      VALUES (${id}, ${workspace.id}, 'key', ${workspace.keyId}, 'delete', '{}', ${status}, 0, now())`.execute(
      platform.db,
    )
    return { id }
  }
  const byId = async (made: Promise<{ id: string }>) => ({ id: (await made).id })

  return {
    createCustomer: async () => ({ body: { externalId: name(), name: personalName, email: personalEmail() } }),
    updateCustomer: async () => ({
      params: await byId(buildCustomer(platform, workspace, { name: 'Before', email: personalEmail() })),
      body: { name: personalName, email: personalEmail() },
    }),
    deleteCustomer: async () => ({ params: await byId(buildCustomer(platform, workspace, { name: personalName })) }),
    createDomain: async () => ({ body: { slug: `${name()}.example.com` } }),
    registerDomain: async () => ({ body: { domain: `${name()}.example.com` } }),
    updateDomain: async () => ({ params: { slug: workspace.domain }, body: { placeholder: 'https://example.com/' } }),
    deleteDomain: async () => ({ params: { slug: workspace.domain } }),
    createFolder: async () => ({ body: { name: name() } }),
    updateFolder: async () => ({
      params: await byId(createFolder(ctx, { name: name(), accessLevel: 'write' })),
      body: { name: name() },
    }),
    deleteFolder: async () => ({ params: await byId(createFolder(ctx, { name: name(), accessLevel: 'write' })) }),
    createLink: async () => ({ body: { url, password: secretPassword } }),
    upsertLink: async () => ({ body: { url, password: secretPassword } }),
    bulkCreateLinks: async () => ({ body: [{ url, password: secretPassword }, { url }] }),
    bulkUpdateLinks: async () => ({
      body: { linkIds: [(await link()).id, (await link()).id], data: { url, password: secretPassword } },
    }),
    bulkDeleteLinks: async () => ({ query: { linkIds: `${(await link()).id},${(await link()).id}` } }),
    updateLink: async () => ({ params: { linkId: (await link()).id }, body: { url, password: secretPassword } }),
    deleteLink: async () => ({ params: { linkId: (await link({ password: secretPassword })).id } }),
    createBulkOperation: async () => {
      await link()
      return { body: { action: 'update', filter: {}, data: { title: name(), password: secretPassword } } }
    },
    cancelBulkOperation: async () => ({ params: await byId(bulkOperation('canceled')) }),
    undoBulkOperation: async () => ({ params: await byId(bulkOperation('done')) }),
    restoreLink: async () => {
      const { id: linkId } = await link({ password: secretPassword })
      await deleteLink(ctx, linkId)
      return { params: { linkId } }
    },
    changePublicStats: async () => ({ body: { linkId: (await link()).id, password: secretPassword } }),
    createProgram: async () => ({ body: { name: name(), domain: workspace.domain, url: 'https://example.com/' } }),
    updateProgram: async () => ({ params: await byId(program()), body: { name: name() } }),
    createPartnerGroup: async () => {
      await program()
      return { body: { name: name(), slug: name() } }
    },
    updatePartnerGroup: async () => ({ params: await byId(group()), body: { name: name() } }),
    deletePartnerGroup: async () => ({ params: await byId(group()) }),
    addPartnersToGroup: async () => {
      const { id } = await group()
      return { params: { id }, body: { partnerIds: [(await buildPartner(platform, workspace)).id] } }
    },
    createPartnerTag: async () => {
      await program()
      return { body: { name: name() } }
    },
    updatePartnerTag: async () => {
      await program()
      return { params: await byId(createPartnerTag(ctx, { name: name() })), body: { name: name() } }
    },
    deletePartnerTag: async () => {
      await program()
      return { params: await byId(createPartnerTag(ctx, { name: name() })) }
    },
    createDiscount: async () => ({ body: { groupId: (await group()).id, type: 'flat', amount: 1 } }),
    updateDiscount: async () => ({ params: await byId(discount()), body: { amount: 2 } }),
    deleteDiscount: async () => ({ params: await byId(discount()) }),
    createDiscountCode: async () => {
      const { id: groupId } = await group()
      await createDiscount(ctx, { groupId, type: 'flat', amount: 1 })
      const { id: partnerId } = await buildPartner(platform, workspace, { groupId })
      return { body: { partnerId, linkId: (await link({ partnerId })).id, code: name() } }
    },
    deleteDiscountCode: async () => {
      const { id: groupId } = await group()
      await createDiscount(ctx, { groupId, type: 'flat', amount: 1 })
      const { id: partnerId } = await buildPartner(platform, workspace, { groupId })
      const code = { partnerId, linkId: (await link({ partnerId })).id, code: name() }
      return { params: { idOrCode: (await createDiscountCode(ctx, code)).id } }
    },
    createPartner: async () => {
      await program()
      return { body: { name: personalName, email: personalEmail() } }
    },
    banPartner: async () => ({ body: { partnerId: (await partner()).id, reason: 'spam' } }),
    unbanPartner: async () => ({ body: { partnerId: (await partner({ status: 'banned' })).id } }),
    deactivatePartner: async () => ({ body: { partnerId: (await partner()).id } }),
    reactivatePartner: async () => ({ body: { partnerId: (await partner({ status: 'deactivated' })).id } }),
    archivePartner: async () => ({ body: { partnerId: (await partner()).id } }),
    mergePartners: async () => {
      const { id: sourcePartnerId } = await partner()
      return { body: { sourcePartnerId, targetPartnerId: (await buildPartner(platform, workspace)).id } }
    },
    bulkPartners: async () => ({ body: { partnerIds: [(await partner()).id], action: 'archive' } }),
    invitePartner: async () => {
      await program()
      return { body: { email: personalEmail(), name: personalName } }
    },
    createPartnerLink: async () => ({ body: { partnerId: (await partner()).id } }),
    upsertPartnerLink: async () => ({ body: { partnerId: (await partner()).id, url: 'https://example.com/a' } }),
    approvePartnerApplication: async () => ({ body: { partnerId: (await application()).partnerId } }),
    rejectPartnerApplication: async () => ({ body: { partnerId: (await application()).partnerId } }),
    updatePartner: async () => ({
      params: await byId(partner()),
      body: { name: personalName, email: personalEmail() },
    }),
    createReward: async () => ({
      body: { groupId: (await group()).id, event: 'lead', type: 'flat', amountInCents: 5 },
    }),
    updateReward: async () => ({ params: await byId(reward()), body: { amountInCents: 7 } }),
    deleteReward: async () => ({ params: await byId(reward()) }),
    createCommission: async () => ({ body: { type: 'custom', partnerId: (await partner()).id, amount: 5 } }),
    bulkUpdateCommissions: async () => ({ body: { commissionIds: [(await commission()).id], status: 'fraud' } }),
    updateCommission: async () => ({ params: { id: (await commission()).id }, body: { status: 'fraud' } }),
    createTag: async () => ({ body: { name: name() } }),
    updateTag: async () => ({ params: await byId(createTag(ctx, { name: name() })), body: { name: name() } }),
    deleteTag: async () => ({ params: await byId(createTag(ctx, { name: name() })) }),
    createToken: async () => ({ body: { name: name(), kind: 'machine', scopes: ['links.read'] } }),
    updateToken: async () => ({ params: await byId(token()), body: { name: name() } }),
    rotateToken: async () => ({ params: await byId(token()), body: {} }),
    revokeToken: async () => ({ params: await byId(token()) }),
    createWorkspace: async () => ({ user: await buildUser(platform), body: { name: name(), slug: name() } }),
    updateWorkspace: async () => ({ params, body: { name: name() } }),
    deleteWorkspace: async () => ({ user: await owner(), params, query: { confirm: workspace.slug } }),
    leaveWorkspace: async () => ({ user: await buildMember(platform, workspace, 'viewer'), params }),
    transferWorkspace: async () => ({
      user: await owner(),
      params,
      body: { userId: (await buildMember(platform, workspace, 'admin')).id },
    }),
    updateMember: async () => ({
      params: { userId: (await buildMember(platform, workspace, 'viewer')).id },
      body: { role: 'member' },
    }),
    removeMember: async () => ({ params: { userId: (await buildMember(platform, workspace, 'viewer')).id } }),
    createInvites: async () => ({ body: { email: personalEmail(), role: 'member' } }),
    renewInvite: async () => ({ params: await invite() }),
    revokeInvite: async () => ({ params: await invite() }),
    acceptInvite: async () => {
      const user = await buildUser(platform)
      const { link } = await issueInviteLink(platform, (await invite(user.email)).id)
      return { user, body: { token: new URL(link).searchParams.get('token') } }
    },
    createUtmTemplate: async () => ({ body: { name: name(), utm_source: 'newsletter' } }),
    updateUtmTemplate: async () => ({
      params: await byId(createUtmTemplate(ctx, { name: name() })),
      body: { utm_source: 'print' },
    }),
    deleteUtmTemplate: async () => ({ params: await byId(createUtmTemplate(ctx, { name: name() })) }),
    setLinkQrDesign: async () => ({ params: { linkId: (await link()).id }, body: { shape: 'dots' } }),
    deleteLinkQrDesign: async () => ({ params: { linkId: (await link()).id } }),
    setDomainQrDesign: async () => ({ params: { slug: workspace.domain }, body: { shape: 'dots' } }),
    deleteDomainQrDesign: async () => ({ params: { slug: workspace.domain } }),
    setWorkspaceQrDesign: async () => ({ params, body: { shape: 'dots' } }),
    deleteWorkspaceQrDesign: async () => ({ params }),
    createDomainSetupPage: async () => ({ params: { slug: workspace.domain } }),
    deleteDomainSetupPage: async () => ({ params: { slug: workspace.domain } }),
    createSampleData: async () => ({ user: await owner() }),
    deleteSampleData: async () => ({ user: await owner() }),
    updatePreferences: async () => ({ user: await owner(), body: { theme: 'dark' } }),
    updateNotificationSettings: async () => ({ user: await owner(), body: { weekly_report: true } }),
    createView: async () => ({ body: sharedView() }),
    updateView: async () => ({ params: await byId(createView(ctx, sharedView())), body: { name: name() } }),
    deleteView: async () => ({ params: await byId(createView(ctx, sharedView())) }),
    createNote: async () => ({ body: note }),
    updateNote: async () => ({ params: await byId(createNote(ctx, note)), body: { text: 'Repaired' } }),
    deleteNote: async () => ({ params: await byId(createNote(ctx, note)) }),
    createShare: async () => ({ body: { linkId: (await link()).id, password: secretPassword } }),
    updateShare: async () => ({ params: await byId(share()), body: { password: secretPassword } }),
    deleteShare: async () => ({ params: await byId(share()) }),
    createWebhook: async () => ({
      body: { name: name(), url: `https://localhost/${name()}`, triggers: ['link.created'] },
    }),
    updateWebhook: async () => ({ params: await byId(webhook()), body: { name: name() } }),
    deleteWebhook: async () => ({ params: await byId(webhook()) }),
    rotateWebhookSecret: async () => ({ params: await byId(webhook()) }),
    testWebhook: async () => ({
      params: await byId(webhook({ disabled_at: null })),
      body: { trigger: 'link.created' },
    }),
    replayWebhookDelivery: async () => ({ params: await failedDelivery() }),
    replayFailedWebhookDeliveries: async () => ({
      params: { id: (await failedDelivery()).id },
      body: { since: new Date(Date.now() - 3_600_000).toISOString() },
    }),
  }
}
