import type {
  NewCommission,
  NewCustomCommission,
  NewLeadCommission,
  NewSaleCommission,
} from '@tributary/contract/commissions'
import { v7 } from 'uuid'
import { type Ctx, formatActor } from '../../platform/context.ts'
import { badRequest, conflict, invalid, notFound } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { type Customer, lockCustomer, saveCustomer } from '../customers/service.ts'
import { linkNumbers, linksByNumber, partnerLinks } from '../links/service.ts'
import { lockPartners, type Partner, requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { earningStatuses } from '../rewards/service.ts'
import { recordLeadByHand, recordSaleByHand } from '../track/service.ts'
import { addTotals, noChanges } from './batch.ts'
import type { Commission } from './commission.ts'
import { earnedPosting } from './decide-batch.ts'
import { judgeMoves } from './judge-moves.ts'
import { writeChanges } from './write.ts'

/** A deactivated partner's links earn nothing, but what it earned before may be corrected. */
const correctable = [...earningStatuses, 'deactivated']

export async function createCommission(ctx: Ctx, input: NewCommission) {
  await requireProgram(ctx)
  switch (input.type) {
    case 'custom':
      await createCustom(ctx, input)
      return { success: true, message: 'The commission was created.' }
    case 'lead':
      await createLead(ctx, input)
      return { success: true, message: 'The lead was recorded. Its commission follows within two seconds.' }
    case 'sale':
      await createSale(ctx, input)
      return { success: true, message: 'The sale was recorded. Its commission follows within two seconds.' }
  }
}

/** Creates a commission with given earnings; negative ones claw back. */
function createCustom(ctx: Ctx, input: NewCustomCommission): Promise<void> {
  if (input.amount === 0) throw invalid('`amount` in the body must not be 0.')
  if (input.amount < 0 && !input.description)
    throw badRequest('`description` in the body is required for a negative amount. Say why, such as order_canceled.')
  return transaction(ctx, async (ctx) => {
    const { currency } = await requireProgram(ctx)
    const partner = await lockPartner(ctx, input.partnerId)
    const at = readDate(ctx, input.date)
    const commission: Commission = {
      number: null,
      id: v7(),
      partnerNumber: partner.number,
      type: 'custom',
      status: 'pending',
      amount: BigInt(input.amount),
      earnings: BigInt(input.amount),
      currency,
      quantity: 1,
      conversionNumber: null,
      customerId: null,
      linkNumber: null,
      rewardVersion: null,
      payoutNumber: null,
      payoutStatus: null,
      invoiceId: null,
      description: input.description ?? null,
      metadata: null,
      actor: formatActor(ctx.actor),
      dueAt: at,
      createdAt: at,
      statusReason: null,
      detail: { why: null },
    }
    const changes = noChanges()
    changes.created.push(commission)
    changes.postings.push(earnedPosting(commission))
    addTotals(null, changes, partner.number, { commissions: commission.earnings })
    await judgeMoves(ctx, changes, [partner])
    await writeChanges(ctx, changes)
    reportChange(ctx, { id: `cm_${commission.id}`, after: input })
  })
}

function createLead(ctx: Ctx, input: NewLeadCommission): Promise<void> {
  requireOneCustomer(input)
  return transaction(ctx, async (ctx) => {
    const { link, customer } = await findParties(ctx, input)
    const eventName = input.lead?.eventName || input.leadEventName || 'Sign up'
    const at = readDate(ctx, input.date ?? input.leadEventDate)
    const lead = { customer, link, eventName, metadata: input.lead?.metadata ?? null, at }
    if (!(await recordLeadByHand(ctx, lead)))
      throw conflict(`The customer already has a lead named ${eventName}. Send another \`lead.eventName\`.`)
  })
}

function createSale(ctx: Ctx, input: NewSaleCommission): Promise<void> {
  requireOneCustomer(input)
  const { sale } = input
  const amount = sale?.amount ?? input.saleAmount
  const invoiceId = sale?.invoiceId ?? input.invoiceId ?? null
  if (input.importStripeInvoices) {
    if (amount != null || invoiceId)
      throw badRequest('`importStripeInvoices` in the body can not be combined with an amount or an invoice id.')
    throw badRequest('Stripe is not connected to this workspace, so that no invoices can be imported.')
  }
  if (amount == null) throw badRequest('`sale.amount` in the body is required.')
  return transaction(ctx, async (ctx) => {
    const { link, customer } = await findParties(ctx, input)
    const product = input.productId ? { productId: input.productId } : undefined
    const metadata = sale?.metadata || product ? { ...product, ...sale?.metadata } : null
    const recorded = await recordSaleByHand(ctx, {
      customer,
      link,
      eventName: sale?.eventName ?? 'Purchase',
      metadata,
      at: readDate(ctx, input.date ?? input.saleEventDate),
      amount,
      currency: sale?.currency ?? 'usd',
      paymentProcessor: sale?.paymentProcessor ?? 'custom',
      invoiceId,
    })
    if (!recorded) throw conflict(`Invoice ${invoiceId} is recorded already.`)
  })
}

function requireOneCustomer({ customerId, customer }: Pick<NewLeadCommission, 'customerId' | 'customer'>): void {
  if (!customerId === !customer) throw badRequest('Send either `customerId` or `customer` in the body.')
}

// Rollups in ClickHouse begin with 1970; a commission by hand is hardly older than the web.
const firstDate = new Date('2000-01-01')

function readDate(ctx: Ctx, date: string | null | undefined): Date {
  const now = ctx.now()
  if (!date) return now
  const at = new Date(date)
  if (at.getTime() > now.getTime() + 60_000) throw invalid('`date` in the body is in the future.')
  if (at < firstDate) throw invalid(`\`date\` in the body must be ${firstDate.toISOString().slice(0, 10)} or later.`)
  return at < now ? at : now
}

/** The link and customer of a lead or sale by hand. Locks the customer. */
async function findParties(
  ctx: Ctx,
  input: Pick<NewLeadCommission, 'partnerId' | 'linkId' | 'customerId' | 'customer'>,
) {
  const partner = requireStatus(await requirePartner(ctx, { partnerId: input.partnerId }), earningStatuses)
  const number = await findLink(ctx, partner, input.linkId)
  return { link: { number, partnerId: partner.id }, customer: await findCustomer(ctx, input) }
}

const mostLinks = { links: 1_000, urlBytes: 8_000_000 }

/** The number of the named link, or of the partner's link with the most revenue. */
async function findLink(ctx: Ctx, { id: partnerId }: Partner, named: string | null | undefined): Promise<bigint> {
  const links = named ? [] : ((await partnerLinks(ctx, [partnerId], mostLinks)).get(partnerId) ?? [])
  const [best] = links.toSorted((one, other) => other.saleAmount - one.saleAmount)
  const id = named || best?.id
  if (!id) throw badRequest(`Partner ${partnerId} has no link. Create one with POST /partners/links.`)
  const [number] = await linkNumbers(ctx, { ids: [id] })
  const link = number === undefined ? undefined : (await linksByNumber(ctx, [number])).get(number)
  if (number === undefined || link?.partnerId !== partnerId) throw notFound('link of this partner', id)
  return number
}

async function findCustomer(ctx: Ctx, input: Pick<NewLeadCommission, 'customerId' | 'customer'>): Promise<Customer> {
  if (input.customerId) {
    const found = await lockCustomer(ctx, input.customerId)
    if (!found) throw notFound('customer', input.customerId)
    return found
  }
  const { externalId = '', country, email, name, avatar, stripeCustomerId } = input.customer ?? {}
  const given = Object.entries({ country, email, name, avatar, stripeCustomerId }).filter(([, value]) => value != null)
  await saveCustomer(ctx, externalId, Object.fromEntries(given))
  return saveCustomer(ctx, externalId, {})
}

/** Locks the partner; throws 404 when there is none, and 422 when its status allows no commission. */
async function lockPartner(ctx: Ctx, partnerId: string): Promise<Partner> {
  const found = await requirePartner(ctx, { partnerId })
  const [partner] = await lockPartners(ctx.db, ctx.workspaceId, [found.number])
  if (!partner) throw conflict('The partner is being merged by another request. Try again.')
  return requireStatus(partner, correctable)
}

function requireStatus(partner: Partner, allowed: string[]): Partner {
  if (allowed.includes(partner.status)) return partner
  throw invalid(
    `\`partnerId\` in the body is ${partner.id}, which is ${partner.status}. Only ${allowed.join(', ')} partners get this commission.`,
  )
}
