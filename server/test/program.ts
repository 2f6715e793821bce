import { randomUUID } from 'node:crypto'
import { newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { decideSome } from '../src/features/commissions/engine.ts'
import { runMaturing } from '../src/features/commissions/mature.ts'
import type { Customer } from '../src/features/customers/service.ts'
import { type Group, requireDefaultGroup } from '../src/features/groups/service.ts'
import { differentBalances, differentSums, partnerBalances } from '../src/features/ledger/service.ts'
import { linkNumbers } from '../src/features/links/service.ts'
import { addPartner, type Partner } from '../src/features/partners/service.ts'
import { createProgram } from '../src/features/programs/service.ts'
import { trackSaleFromPage } from '../src/features/track/from-page.ts'
import { trackRefund } from '../src/features/track/refunds.ts'
import { trackSale } from '../src/features/track/sales.ts'
import { recordLeadByHand, recordSaleByHand } from '../src/features/track/service.ts'
import type { Ctx, Platform } from '../src/platform/context.ts'
import { transaction } from '../src/platform/postgres.ts'
import { type BuiltWorkspace, buildCustomer, buildLink, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { eventually } from './stack.ts'

type Terms = {
  event?: 'click' | 'lead' | 'sale'
  type?: 'flat' | 'percentage'
  amount?: number
  maxDuration?: number | null
  modifiers?: object[]
  cap?: object | null
}
export type BuiltPartner = Partner & { link: { number: bigint; partnerId: string } }
export type BuiltProgram = { workspace: BuiltWorkspace; ctx: Ctx; group: Group }

/** Creates a program and its default group, in a new workspace or the given one. */
export async function buildProgram(
  platform: Platform,
  given: { currency?: string } = {},
  existing?: BuiltWorkspace,
): Promise<BuiltProgram> {
  const workspace = existing ?? (await buildWorkspace(platform))
  const ctx = contextIn(platform, workspace.id)
  await createProgram(ctx, { name: 'Friends', domain: workspace.domain, url: 'https://example.com', ...given })
  return { workspace, ctx, group: await requireDefaultGroup(ctx) }
}

/** Creates an approved partner with a link. */
export async function buildPartner(
  platform: Platform,
  { workspace, ctx, group }: BuiltProgram,
  given: Partial<Pick<Partner, 'name' | 'email' | 'status' | 'country' | 'tenant_id'>> = {},
): Promise<BuiltPartner> {
  const row = {
    group_number: group.number,
    status: 'approved' as const,
    name: 'Ada',
    email: `${randomUUID()}@example.com`,
  }
  const partner = (await transaction(ctx, (ctx) => addPartner(ctx, { ...row, ...given }))) as Partner
  const link = await buildLink(platform, workspace, { trackConversion: true })
  const [number = 0n] = await linkNumbers(ctx, { ids: [link.id] })
  await sql`UPDATE links SET partner_id = ${partner.id} WHERE id = ${link.id}`.execute(platform.db)
  return { ...partner, link: { number, partnerId: partner.id } }
}

/** Gives a group, or one partner, a reward since 2020; by default 10 % of every sale. */
export async function buildReward({ ctx, group }: BuiltProgram, terms: Terms = {}, partner?: Partner): Promise<bigint> {
  const { event = 'sale' } = terms
  const base = { type: 'percentage', amount: 1_000, maxDuration: event === 'sale' ? null : 0, modifiers: [], cap: null }
  const [groupNumber, partnerNumber] = partner ? [null, partner.number] : [group.number, null]
  const stored = JSON.stringify({ description: null, ...base, ...terms, event })
  const result = await sql<{ number: bigint }>`WITH made AS (
      INSERT INTO rewards (id, workspace_id, group_number, partner_number, event)
      VALUES (${`rw_${randomUUID()}`}, ${ctx.workspaceId}, ${groupNumber}, ${partnerNumber}, ${event}) RETURNING number)
    INSERT INTO reward_versions (reward_number, workspace_id, version, terms, actor, created_at)
    SELECT number, ${ctx.workspaceId}, 1, ${stored}::jsonb, 'test', '2020-01-01' FROM made RETURNING reward_number AS number`.execute(
    ctx.db,
  )
  return result.rows[0]?.number ?? 0n
}

/** Creates a program with a reward of its group, and a partner who earns by it. */
export async function buildEarner(
  platform: Platform,
  terms: Terms = {},
  given: { currency?: string; partner?: Parameters<typeof buildPartner>[2] } = {},
): Promise<{ program: BuiltProgram; reward: bigint; partner: BuiltPartner }> {
  const { partner, ...settings } = given
  const program = await buildProgram(platform, settings)
  const reward = await buildReward(program, terms)
  return { program, reward, partner: await buildPartner(platform, program, partner) }
}

let invoices = 0

export async function recordSale(
  platform: Platform,
  { workspace, ctx }: BuiltProgram,
  partner: BuiltPartner,
  given: {
    amount?: number
    customer?: Customer
    metadata?: Record<string, unknown>
    at?: Date
    currency?: string
  } = {},
): Promise<{ customer: Customer; invoiceId: string; number: bigint; id: string }> {
  const customer = given.customer ?? (await buildCustomer(platform, workspace))
  const invoiceId = `invoice-${++invoices}-${randomUUID()}`
  const { amount = 10_000, metadata = null, at = new Date(), currency = 'usd' } = given
  const sale = { customer, link: partner.link, eventName: 'Purchase', metadata, at, amount, currency, invoiceId }
  const recorded = await transaction(ctx, (ctx) => recordSaleByHand(ctx, { ...sale, paymentProcessor: 'custom' }))
  if (!recorded) throw new Error('The sale was not recorded')
  return { customer: { ...customer, first_sale_at: at }, invoiceId, number: recorded.number, id: recorded.id }
}

/** Records a sale as a server does with its secret key, or a web page with a publishable key. The customer needs a lead. */
export async function reportSale(
  { ctx }: BuiltProgram,
  customer: Customer,
  { isFromPage, ...given }: { isFromPage: boolean; amount: number; invoiceId: string },
): Promise<void> {
  const sale = newSale.parse({ customerExternalId: customer.external_id, ...given })
  const actor = { kind: 'key' as const, id: 'key_page', scopes: ['conversions.write' as const], isPublishable: true }
  if (isFromPage) await trackSaleFromPage({ ...ctx, actor }, sale)
  else await trackSale(ctx, sale)
}

export function recordLead(
  platform: Platform,
  { workspace, ctx }: BuiltProgram,
  partner: BuiltPartner,
  customer?: Customer,
) {
  return transaction(ctx, async (ctx) => {
    const lead = { link: partner.link, eventName: randomUUID(), metadata: null, at: new Date() }
    return recordLeadByHand(ctx, { ...lead, customer: customer ?? (await buildCustomer(platform, workspace)) })
  })
}

export function recordRefund({ ctx }: BuiltProgram, invoiceId: string, amount?: number) {
  return trackRefund(ctx, { invoiceId, amount, refundId: randomUUID() } as never)
}

/** Decides everything that is queued in the workspace, with or without the worker of the test run. */
export async function decideAll(platform: Platform, { ctx }: Pick<BuiltProgram, 'ctx'>): Promise<void> {
  await eventually(async () => {
    while ((await decideSome(platform)) > 0);
    const left = await sql<{ count: bigint }>`SELECT count(*) FROM commission_queue
      WHERE workspace_id = ${ctx.workspaceId}`.execute(platform.db)
    if (left.rows[0]?.count !== 0n) throw new Error(`${left.rows[0]?.count} events are not decided`)
  }, 20_000)
}

export type StoredCommission = {
  id: string
  type: string
  status: string
  amount: bigint
  earnings: bigint
  quantity: number
  description: string | null
  payout_number: bigint | null
}

export async function readCommissions({ ctx }: Pick<BuiltProgram, 'ctx'>): Promise<StoredCommission[]> {
  const result = await sql<StoredCommission>`SELECT 'cm_' || id AS id, type, status, amount, earnings, quantity,
    description, payout_number FROM commissions WHERE workspace_id = ${ctx.workspaceId} ORDER BY number`.execute(ctx.db)
  return result.rows
}

/** Why each event of the workspace earned nothing; null for those that earned. */
export async function readReasons({ ctx }: Pick<BuiltProgram, 'ctx'>): Promise<(string | null)[]> {
  const result = await sql<{ reason: string | null }>`SELECT reason FROM commission_decisions
    WHERE workspace_id = ${ctx.workspaceId} ORDER BY conversion_number`.execute(ctx.db)
  return result.rows.map(({ reason }) => reason)
}

/** What the program owes a partner, by kind of account. */
export async function readOwed({ ctx }: Pick<BuiltProgram, 'ctx'>, partnerNumber: bigint) {
  const balances = await partnerBalances(ctx.db, ctx.workspaceId, [partnerNumber])
  return Object.fromEntries(balances.map(({ kind, owed }) => [kind, owed]))
}

/** Matures what is due in a second. */
export function matureAll(platform: Platform, { ctx }: Pick<BuiltProgram, 'ctx'>): Promise<void> {
  return runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [ctx.workspaceId] })
}

/** Expects every balance and sum of the ledger to equal its postings. */
export async function expectSound(platform: Platform, { ctx: { workspaceId } }: Pick<BuiltProgram, 'ctx'>) {
  const { rows } = await differentBalances(platform, { after: 0n, count: 1_000, workspaceId })
  expect([...rows, ...(await differentSums(platform, workspaceId))]).toEqual([])
}
