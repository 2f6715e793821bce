// This file exceeds the line limit, because the identifiers of all operations are in one table.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as contract from '@tributary/contract/commissions'
import { operations } from '@tributary/contract/index'
import type { JsonOperation } from '@tributary/contract/operation'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { createCommission } from '../src/features/commissions/create.ts'
import { listCommissions } from '../src/features/commissions/list.ts'
import { runMaturing } from '../src/features/commissions/mature.ts'
import { createDiscountCode } from '../src/features/discount-codes/service.ts'
import { createDiscount } from '../src/features/discounts/service.ts'
import { createFolder } from '../src/features/folders/service.ts'
import { createGroup } from '../src/features/groups/service.ts'
import { createInvites } from '../src/features/invites/service.ts'
import { foldLedgerSums } from '../src/features/ledger/service.ts'
import { createPartnerTag } from '../src/features/partner-tags/service.ts'
import { createReward } from '../src/features/rewards/manage.ts'
import { createTag } from '../src/features/tags/service.ts'
import { insertDeliveries, insertEvents } from '../src/features/webhooks/deliveries-store.ts'
import type { Ctx } from '../src/platform/context.ts'
import {
  type BuiltWorkspace,
  browser,
  buildCustomer,
  buildLink,
  buildMember,
  buildPartner,
  buildProgram,
  buildWorkspace,
} from './build.ts'
import { contextIn } from './context.ts'
import { eventually, openTestPlatform } from './stack.ts'
import { visit } from './visit.ts'
import { buildWebhook } from './webhooks.ts'

/**
 * Calls every operation with an API key of one workspace and every identifier of another workspace's objects: in the
 * path, in the query and in the body. New operations are included automatically; a new type of identifier needs a line
 * here.
 */
const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const jsonOperations = operations.filter((operation) => operation.kind === 'json')
const secret = `secret-${randomUUID()}`

type Foreign = BuiltWorkspace & {
  linkId: string
  externalId: string
  tagId: string
  folderId: string
  customerId: string
  clickId: string
  webhookId: string
  eventId: string
  programId: string
  groupId: string
  partnerTagId: string
  discountId: string
  discountCodeId: string
  rewardId: string
  partnerId: string
  commissionId: string
  inviteId: string
  memberId: string
}
let foreign: Foreign

/** Returns an identifier of the other workspace, by parameter or field name. */
function foreignValue(name: string, path: string): unknown {
  const idByNoun: Record<string, string> = {
    folders: foreign.folderId,
    customers: foreign.customerId,
    webhooks: foreign.webhookId,
    tags: foreign.tagId,
    programs: foreign.programId,
    groups: foreign.groupId,
    'partner-tags': foreign.partnerTagId,
    discounts: foreign.discountId,
    rewards: foreign.rewardId,
    partners: foreign.partnerId,
    commissions: foreign.commissionId,
    tokens: foreign.keyId,
    invites: foreign.inviteId,
  }
  const byName: Record<string, unknown> = {
    id: idByNoun[path.split('/')[1] ?? ''],
    idOrSlug: foreign.id,
    userId: foreign.memberId,
    defaultDomain: foreign.domain,
    folders: [{ folderId: foreign.folderId, access: 'write' }],
    eventId: foreign.eventId,
    actorId: foreign.keyId,
    targetId: foreign.linkId,
    groupId: foreign.groupId,
    partnerId: foreign.partnerId,
    programId: foreign.programId,
    idOrCode: foreign.discountCodeId,
    discountId: foreign.discountId,
    partnerIds: [foreign.partnerId],
    sourcePartnerId: foreign.partnerId,
    targetPartnerId: foreign.partnerId,
    commissionIds: [foreign.commissionId],
    webhookIds: [foreign.webhookId],
    folderIds: [foreign.folderId],
    ids: foreign.tagId,
    linkId: foreign.linkId,
    linkIds: path === '/links/bulk' || path.startsWith('/webhooks') ? [foreign.linkId] : foreign.linkId,
    startingAfter: listedId(path),
    endingBefore: listedId(path),
    externalId: path.startsWith('/customers') ? foreign.externalId : `ext_${foreign.externalId}`,
    email: `${secret}@example.com`,
    avatar: `https://example.com/${secret}.png`,
    stripeCustomerId: secret,
    customerId: foreign.customerId,
    customerExternalId: secret,
    customerName: secret,
    customerEmail: `${secret}@example.com`,
    customerAvatar: `https://example.com/${secret}.png`,
    clickId: foreign.clickId,
    invoiceId: secret,
    refundId: secret,
    leadEventName: secret,
    externalIds: [foreign.externalId],
    tagId: foreign.tagId,
    tagIds: path.startsWith('/partners') ? [foreign.partnerTagId] : foreign.tagId,
    tagNames: secret,
    folderId: foreign.folderId,
    domain: foreign.domain,
    domains: foreign.domain,
    slug: foreignSlug(path),
    key: secret,
    code: secret,
    name: secret,
    tag: secret,
    search: secret,
    // `localhost`, because tests must not look up host names.
    url: path === '/metatags' ? `http://localhost/${secret}` : `https://example.com/${secret}`,
  }
  return byName[name]
}

function foreignSlug(path: string): string {
  if (path.startsWith('/workspaces')) return foreign.slug
  return path.startsWith('/groups') ? secret : foreign.domain
}

/** The id of an object in the list of this path. */
function listedId(path: string): string {
  if (path.startsWith('/customers')) return foreign.customerId
  return path.startsWith('/commissions') ? foreign.commissionId : foreign.linkId
}

/** Parameters that do not identify an object. */
const harmless = new Set(
  `event interval start end timezone country city region continent device browser os trigger referer refererUrl root
  saleType query qr page limit pageSize sort sortOrder sortBy order groupBy showArchived withTags archived primary
  placeholder expiredUrl notFoundUrl logo assetLinks appleAppSiteAssociation color description accessLevel
  trackConversion tenantId partnerTagId keyLength prefix publicStats
  comments expiresAt disabledAt password proxy title image video rewrite ios android geo doIndex utm_source utm_medium
  utm_campaign utm_term utm_content ref testVariants testStartedAt testCompletedAt data
  includeExpandedFields amount currency eventName eventQuantity metadata mode paymentProcessor cursor bots attributed visitors series
  triggers linkScope disabled status since enabled
  minPayoutAmount payoutMode supportEmail termsUrl helpUrl defaultLinks additionalLinks maxPartnerLinks holdingPeriodDays
  username companyName website youtube twitter linkedin instagram tiktok linkProps acceptUrl reason restoreCommissions
  action dryRun rejectionReason rejectionNote reapplicationTimeframe flagForFraud flagForFraudReason
  autoApprove moveRules type maxDuration provider couponId couponTestId codeWins
  amountInCents amountInPercentage modifiers spendLimitAmount spendLimitInterval spendLimitScope applyTo
  payoutId kind earnings saleAmount modifySaleAmount modifyAmount date customer lead leadEventDate sale saleEventDate
  importStripeInvoices productId isPinned scopes allowedHostnames showInactive overlapHours
  confirm role invites token timeZone weekStart attributionDays attributionModel ipStorage contactEmail
  conversionEnabled operation`.split(/\s+/),
)

beforeAll(async () => {
  const workspace = await buildWorkspace(platform)
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
  }
  foreign = { ...workspace, ...ids, externalId: secret, clickId: '', webhookId: '', eventId: secret }
  await visit(`${redirect}/${secret}`, { host: workspace.domain, 'user-agent': browser })
  const clicks = async () => (await ask(withKey(foreign.key), 'get', '/events', {})).text
  await eventually(async () => expect(await clicks()).toContain(secret))
  foreign.clickId = JSON.parse(await clicks())[0].click_id
  const lead = { clickId: foreign.clickId, eventName: secret, customerExternalId: secret }
  await ask(withKey(foreign.key), 'post', '/track/lead', {}, lead)
  await ask(
    withKey(foreign.key),
    'post',
    '/track/sale',
    {},
    { customerExternalId: secret, amount: 500, invoiceId: secret },
  )
  await ask(withKey(foreign.key), 'post', '/track/refund', {}, { invoiceId: secret, amount: 5, refundId: secret })
  await eventually(async () => {
    const found = await sql<{ stored_at: Date | null }>`
      SELECT stored_at FROM conversions WHERE workspace_id = ${foreign.id}`.execute(platform.db)
    expect(found.rows.map((row) => row.stored_at)).toEqual([expect.any(Date), expect.any(Date), expect.any(Date)])
  }, 30_000)
  // Created last and disabled, so that no worker changes it during the test.
  const webhook = { url: `https://localhost/${secret}`, name: secret, disabled_at: new Date() }
  foreign.webhookId = (await buildWebhook(platform, workspace.id, webhook)).id
  const published = { id: secret, event: 'link.created' as const, customerId: null, body: secret }
  const event = { ...published, createdAt: new Date().toISOString(), webhookIds: [foreign.webhookId] }
  await insertEvents(platform.db, workspace.id, [event])
  await insertDeliveries(platform.db, workspace.id, [event], new Date())
  // Jobs would otherwise do it during the test.
  await runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [workspace.id] })
  await foldLedgerSums(platform, new AbortController().signal)
  // Workers process the click and the sale a moment later.
  await eventually(async () => {
    const before = await snapshot(foreign.id)
    await sleep(2_000)
    expect(await snapshot(foreign.id)).toEqual(before)
  })
})

describe.each(jsonOperations)('$id', (operation) => {
  test('has only parameters and fields that this test covers', () => {
    const names = [...pathNames(operation), ...Object.keys(operation.query.shape), ...bodyFields(operation)]
    expect(names.filter((name) => foreignValue(name, operation.path) === undefined && !harmless.has(name))).toEqual([])
  })

  test('neither returns nor changes objects of another workspace', async () => {
    const own = await buildWorkspace(platform)
    if (!operation.path.startsWith('/programs')) await buildProgram(platform, own)
    const owner = operation.actors.includes('key') ? undefined : await buildMember(platform, own, 'owner')
    const credentials = owner ? signIn(owner.cookie, own.id) : withKey(own.key)
    const before = await snapshot(foreign.id)
    for (const { path, query, body } of attempts(operation)) {
      const { status, text } = await ask(credentials, operation.method, path, query, body)
      const published = `${operation.method} ${path} ${JSON.stringify([query, body])}: ${status} ${text}`
      if (pathNames(operation).length > 0) expect(status, published).toBe(404)
      expect(status, published).toBeLessThan(500)
      expect(leaks(JSON.parse(text)), published).toEqual([])
    }
    expect(await snapshot(foreign.id)).toEqual(before)
  })
})

async function buildCommission(ctx: Ctx, partnerId: string): Promise<string> {
  await createCommission(ctx, { type: 'custom', partnerId, amount: 5 })
  const [commission] = await listCommissions(ctx, contract.listCommissions.query.parse({}))
  return commission?.id ?? ''
}

type Attempt = { path: string; query: Record<string, string>; body?: unknown }

function attempts(operation: JsonOperation): Attempt[] {
  const value = (name: string) => foreignValue(name, operation.path)
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(value(name))))
  const list = operation.body.def.type === 'array'
  const wrap = (body: object) => (list ? [body] : body)
  const base = {
    url: 'https://example.com/',
    name: 'mine',
    slug: 'mine.example.com',
    domain: 'mine.example.com',
    data: {},
    eventName: 'mine',
    customerExternalId: 'mine',
    customerId: 'mine',
    externalId: 'mine',
    amount: 5,
    invoiceId: 'mine',
    triggers: ['link.created'],
    since: new Date().toISOString(),
    ...(operation.path === '/groups' && { slug: 'mine' }),
    groupId: 'grp_mine',
    partnerIds: ['pn_mine'],
    action: 'archive',
    reason: 'spam',
    partnerId: 'pn_mine',
    sourcePartnerId: 'pn_mine',
    targetPartnerId: 'pn_mine',
    linkId: 'link_mine',
    ...(operation.path.startsWith('/partners') && { email: 'mine@example.com' }),
    type: operation.path === '/commissions' ? 'sale' : 'flat',
    commissionIds: ['cm_mine'],
    status: 'fraud',
    event: 'lead',
    amountInCents: 1,
    start: new Date(Date.now() - 86_400_000).toISOString(),
  }
  const usual = Object.fromEntries(Object.entries(base).filter(([name]) => required(operation).includes(name)))
  const plain = { path, query: {}, body: wrap(usual) }
  const inQuery = Object.keys(operation.query.shape)
    .filter((name) => value(name) !== undefined)
    .map((name) => ({ ...plain, query: { domain: foreign.domain, [name]: String(value(name)) } }))
  const inBody = bodyFields(operation)
    .filter((name) => value(name) !== undefined)
    .map((name) => ({ ...plain, body: wrap({ ...usual, ...neededBy(name, operation), [name]: value(name) }) }))
  return [plain, ...inQuery, ...inBody]
}

/** Adds or removes fields, because an id would otherwise be rejected before its lookup. */
function neededBy(name: string, { path }: JsonOperation): object {
  if (path.startsWith('/rewards') && name === 'partnerId') return { groupId: null }
  if (!path.startsWith('/webhooks')) return {}
  return { ...(name === 'folderIds' && { linkScope: 'folders' }), ...(name === 'linkIds' && { linkScope: 'links' }) }
}

function pathNames({ path }: JsonOperation): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string)
}

function bodyFields(operation: JsonOperation): string[] {
  if (operation.id === 'bulkCreateLinks')
    return bodyFields(jsonOperations.find(({ id }) => id === 'createLink') as JsonOperation)
  const { def } = operation.body as { def: object }
  if ('options' in def)
    return [...new Set((def.options as { shape: object }[]).flatMap(({ shape }) => Object.keys(shape)))]
  const body = 'out' in def ? (def.out as object) : 'innerType' in def ? (def.innerType as object) : operation.body
  return 'shape' in body ? Object.keys(body.shape as object) : []
}

function required(operation: JsonOperation): string[] {
  if (operation.id === 'bulkCreateLinks' || operation.id === 'upsertLink') return ['url']
  if (operation.id === 'bulkUpdateCommissions') return ['commissionIds', 'status']
  if (operation.method !== 'post') return operation.id === 'bulkUpdateLinks' ? ['data'] : []
  if (operation.id === 'createCustomer') return ['externalId']
  if (operation.id === 'trackCustomer') return ['customerId']
  const needed =
    `url name slug eventName customerExternalId amount invoiceId triggers since partnerIds type action reason`.split(
      ' ',
    )
  if (operation.id === 'createDiscount') needed.push('groupId')
  if (operation.id === 'createDiscountCode') needed.push('partnerId', 'linkId')
  if (operation.path.startsWith('/partners')) needed.push('email', 'partnerId', 'sourcePartnerId', 'targetPartnerId')
  if (operation.path.startsWith('/rewards')) needed.push('groupId', 'event', 'amountInCents', 'start')
  if (operation.id === 'createCommission') return ['type', 'partnerId']
  return bodyFields(operation).filter((name) => needed.includes(name) || operation.id === 'registerDomain')
}

const withKey = (key: string) => ({ authorization: `Bearer ${key}` })
const signIn = (cookie: string, workspace: string) => ({
  cookie,
  'tributary-workspace': workspace,
  'sec-fetch-site': 'same-origin',
})

async function ask(
  credentials: Record<string, string>,
  method: string,
  path: string,
  query: Record<string, string>,
  body?: unknown,
) {
  const response = await fetch(`${api}${path}?${new URLSearchParams(query)}`, {
    method: method.toUpperCase(),
    headers: { ...credentials, 'content-type': 'application/json' },
    body: method === 'get' || method === 'delete' ? undefined : JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Returns the other workspace's values in the response, except for values of the request. */
function leaks(value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return []
  if (Array.isArray(value)) return value.flatMap(leaks)
  const object = value as Record<string, unknown>
  const owned = [
    foreign.linkId,
    foreign.tagId,
    foreign.folderId,
    foreign.customerId,
    foreign.clickId,
    foreign.webhookId,
    foreign.programId,
    foreign.groupId,
    foreign.partnerTagId,
    foreign.discountId,
    foreign.discountCodeId,
    foreign.rewardId,
    foreign.partnerId,
    foreign.commissionId,
    foreign.keyId,
    foreign.inviteId,
    foreign.id,
  ]
  const isForeign =
    object.workspaceId === foreign.id || object.projectId === foreign.id || owned.includes(String(object.id))
  return [...(isForeign ? [object] : []), ...Object.values(object).flatMap(leaks)]
}

/** Returns every row of the workspace in every table. */
async function snapshot(workspaceId: string): Promise<Record<string, unknown[]>> {
  const tables = await sql<{ table_name: string }>`SELECT table_name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'workspace_id' AND table_name <> 'outbox'
    ORDER BY table_name`.execute(platform.db)
  const rows: Record<string, unknown[]> = {}
  for (const { table_name } of tables.rows) {
    const found =
      await sql`SELECT * FROM ${sql.table(table_name)} row WHERE workspace_id = ${workspaceId} ORDER BY row::text`.execute(
        platform.db,
      )
    rows[table_name] = found.rows
  }
  return rows
}
