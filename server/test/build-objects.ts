import * as contract from '@tributary/contract/commissions'
import { newShare } from '@tributary/contract/shares'
import { sql } from 'kysely'
import { createCommission } from '../src/features/commissions/create.ts'
import { listCommissions } from '../src/features/commissions/list.ts'
import { createDiscountCode } from '../src/features/discount-codes/service.ts'
import { createDiscount } from '../src/features/discounts/service.ts'
import { createFolder } from '../src/features/folders/service.ts'
import { createGroup } from '../src/features/groups/service.ts'
import { createInstallCheck } from '../src/features/install-checks/service.ts'
import { createInvites } from '../src/features/invites/service.ts'
import { createNote } from '../src/features/notes/service.ts'
import { createPartnerTag } from '../src/features/partner-tags/service.ts'
import { createReward } from '../src/features/rewards/manage.ts'
import { createShare } from '../src/features/shares/service.ts'
import { createTag } from '../src/features/tags/service.ts'
import { createUtmTemplate } from '../src/features/utm-templates/service.ts'
import { createView } from '../src/features/views/service.ts'
import type { Ctx, Platform } from '../src/platform/context.ts'
import { newId } from '../src/platform/ids.ts'
import { type BuiltWorkspace, buildCustomer, buildLink, buildMember, buildPartner, buildProgram } from './build.ts'
import { contextIn } from './context.ts'

/** Creates one object of each kind in an empty workspace; `secret` is in their names and addresses. Returns their ids. */
export async function buildObjects(platform: Platform, workspace: BuiltWorkspace, secret: string) {
  const context = contextIn(platform, workspace.id)
  const tag = await createTag(context, { name: secret })
  const folder = await createFolder(context, { name: secret, accessLevel: 'write' })
  const link = await buildLink(platform, workspace, {
    key: secret,
    url: `https://example.com/${secret}`,
    externalId: secret,
    tagIds: tag.id,
    folderId: folder.id,
  })
  const person = { externalId: secret, name: secret, email: `${secret}@example.com` }
  const { id: customerId } = await buildCustomer(platform, workspace, person)
  const program = await buildProgram(platform, workspace, { name: secret })
  const group = await createGroup(context, { name: secret, slug: secret })
  const partnerTag = await createPartnerTag(context, { name: secret })
  const discount = await createDiscount(context, { groupId: group.id, type: 'flat', amount: 1 })
  const partner = await buildPartner(platform, workspace, { name: secret, groupId: group.id })
  const partnerLink = await buildLink(platform, workspace, { partnerId: partner.id })
  const discountCode = await createDiscountCode(context, {
    partnerId: partner.id,
    linkId: partnerLink.id,
    code: secret,
  })
  const flat = { type: 'flat', amountInCents: 1, description: secret } as const
  const reward = await createReward(context, { groupId: group.id, event: 'lead', ...flat })
  const ids = {
    linkId: link.id,
    tagId: tag.id,
    folderId: folder.id,
    customerId,
    programId: program.id,
    groupId: group.id,
    partnerTagId: partnerTag.id,
    discountId: discount.id,
    discountCodeId: discountCode.id,
    rewardId: reward.id,
    partnerId: partner.id,
    commissionId: await buildCommission(context, partner.id),
    inviteId:
      (await createInvites(context, { email: `${secret}@example.com`, role: 'viewer' })).invites[0]?.invite?.id ?? '',
    memberId: (await buildMember(platform, workspace, 'owner')).id,
    utmTemplateId: (await createUtmTemplate(context, { name: secret })).id,
    viewId: (await createView(context, { screen: 'links', name: secret, query: {}, visibility: 'shared' })).id,
    noteId: (await createNote(context, { day: '2026-02-28', text: secret })).id,
    shareId: (await createShare(context, newShare.parse({ linkId: link.id, title: secret }))).id,
    bulkOperationId: newId('bulk'),
    installCheckId: (await createInstallCheck(context, `http://localhost/${secret}`)).id,
  }
  await sql`INSERT INTO bulk_operations (id, workspace_id, actor_kind, actor_id, action, filter, status, total, finished_at)
    VALUES (${ids.bulkOperationId}, ${workspace.id}, 'key', ${secret}, 'delete', '{}', 'done', 0, now())`.execute(
    platform.db,
  )
  return ids
}

async function buildCommission(ctx: Ctx, partnerId: string): Promise<string> {
  await createCommission(ctx, { type: 'custom', partnerId, amount: 5 })
  const [commission] = await listCommissions(ctx, contract.listCommissions.query.parse({}))
  return commission?.id ?? ''
}
