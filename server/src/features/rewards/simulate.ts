import { setImmediate as yieldToOthers } from 'node:timers/promises'
import { boundedSum } from '@tributary/contract/common'
import type { RewardSimulation, SimulationInput } from '@tributary/contract/rewards'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { customersById } from '../customers/service.ts'
import { requireGroup } from '../groups/service.ts'
import { partnerLinkNumbers } from '../links/service.ts'
import { convert, exchangeRates } from '../money/service.ts'
import {
  type BriefPartner,
  findPartnersById,
  requirePartner,
  topPartners,
  totalsByPartner,
} from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { earlierTotals, type PartnerSale, partnerSales, saleNumbers } from '../track/service.ts'
import { openSimulation, type SimulatedEarnings, type SimulatedPartner, type SimulatedSale } from './simulation.ts'
import { parseTerms, type RewardVersion, storeTerms } from './terms.ts'
import { loadChoices } from './versions.ts'

const mostPartners = 1_000
const mostLinks = 20_000
const mostSales = 10_000
const salesAtOnce = 500
const mostMs = 10_000
const mostPeriodMs = 366 * 86_400_000
/** Longest time in which a simulation keeps the process from other requests. */
const sliceMs = 10

type Period = { start: Date; end: Date }
type Selected = { partners: BriefPartner[]; isComplete: boolean }

/** Compares proposed with current terms over past sales. Reads only, and stops after `mostMs`. */
export async function simulateReward(
  ctx: Ctx,
  { groupId, partnerId, start, end, ...terms }: SimulationInput,
): Promise<RewardSimulation> {
  const startedAt = performance.now()
  const { currency } = await requireProgram(ctx)
  const period = readPeriod(ctx, { start, end })
  const selected = await selectPartners(ctx, { groupId, partnerId })
  const proposed = proposeVersion(storeTerms({ ...terms, event: 'sale' }), period)
  const links = await partnerLinkNumbers(ctx, readIds(selected), mostLinks + 1)
  const linkNumbers = links.slice(0, mostLinks)
  const partners = await describePartners(ctx, selected, linkNumbers, period, { proposed, isOwn: Boolean(partnerId) })
  const numbers = await saleNumbers(ctx, { ...period, linkNumbers, most: mostSales + 1 })
  const simulation = openSimulation(partners, period.start)
  let sliceStartedAt = performance.now()
  let isInTime = true
  for (let first = 0; first < Math.min(numbers.length, mostSales) && isInTime; first += salesAtOnce) {
    const chunk = numbers.slice(first, Math.min(first + salesAtOnce, mostSales))
    for (const sale of await describeSales(ctx, chunk, currency)) {
      isInTime = performance.now() - startedAt < mostMs
      if (!isInTime) break
      simulation.add(sale)
      if (performance.now() - sliceStartedAt < sliceMs) continue
      await yieldToOthers()
      sliceStartedAt = performance.now()
    }
  }
  const isComplete = selected.isComplete && links.length <= mostLinks && numbers.length <= mostSales && isInTime
  return present({ ...period, currency, isComplete }, selected, simulation.earnings)
}

function readPeriod(ctx: Ctx, { start, end }: Pick<SimulationInput, 'start' | 'end'>): Period {
  const period = { start: new Date(start), end: end === undefined ? ctx.now() : new Date(end) }
  const length = period.end.getTime() - period.start.getTime()
  if (length <= 0) throw invalid('`start` in the body must be before `end`, which is now by default.')
  if (length > mostPeriodMs) throw invalid('The period from `start` to `end` in the body must be a year at most.')
  return period
}

async function selectPartners(
  ctx: Ctx,
  { groupId, partnerId }: Pick<SimulationInput, 'groupId' | 'partnerId'>,
): Promise<Selected> {
  if (partnerId) return { partners: [await requirePartner(ctx, { partnerId })], isComplete: true }
  const { number } = await requireGroup(ctx, groupId as string)
  const partners = await topPartners(ctx, number, mostPartners + 1)
  return { partners: partners.slice(0, mostPartners), isComplete: partners.length <= mostPartners }
}

/** A version that no reward has: its number is that of no row. */
function proposeVersion(terms: ReturnType<typeof storeTerms>, { start }: Period): RewardVersion {
  const nothing = { number: 0n, rewardNumber: 0n, rewardId: '', version: 0, appliesToAll: false }
  return { ...nothing, terms: parseTerms(terms), createdAt: start }
}

async function describePartners(
  ctx: Ctx,
  { partners }: Selected,
  linkNumbers: bigint[],
  { start }: Period,
  { proposed, isOwn }: { proposed: RewardVersion; isOwn: boolean },
): Promise<SimulatedPartner[]> {
  const numbers = partners.map(({ number }) => number)
  const choices = await loadChoices(
    ctx.db,
    ctx.workspaceId,
    partners.map(({ number, group_number }) => ({ number, groupNumber: group_number })),
  )
  if (!choices) throw invalid('The rewards of these partners are too large to simulate together. Send a `partnerId`.')
  const versions = [...choices.values()].flatMap(({ partner, group }) => [partner, group])
  const hasTiers = [proposed, ...versions].some((version) => version && dependsOnTotals(version))
  const totals = hasTiers ? await totalsByPartner(ctx, numbers) : undefined
  const earlier = hasTiers ? await earlierTotals(ctx, linkNumbers, start) : undefined
  return partners.map(({ number, id, group_number, status, country, email }) => {
    const current = choices.get(number) ?? { partner: null, group: null }
    const before = earlier?.get(id) ?? { leads: 0n, conversions: 0n, saleAmount: 0n }
    return {
      number,
      groupNumber: group_number,
      status,
      country,
      email,
      holdingPeriodDays: 0,
      totals: { ...before, clicks: totals?.get(number)?.clicks ?? 0n, commissions: 0n },
      current,
      proposed: isOwn ? { ...current, partner: proposed } : { ...current, group: proposed },
    }
  })
}

function dependsOnTotals({ terms }: RewardVersion): boolean {
  const conditions = terms.modifiers.flatMap(({ conditions }) => conditions)
  return conditions.some(({ entity, attribute }) => entity === 'partner' && attribute !== 'country')
}

async function describeSales(ctx: Ctx, numbers: bigint[], currency: string): Promise<SimulatedSale[]> {
  const sales = await partnerSales(ctx, numbers)
  const customers = await customersById(
    ctx,
    sales.map(({ customer_id }) => customer_id),
  )
  const partners = await findPartnersById(
    ctx,
    sales.map(({ partner_id }) => partner_id),
  )
  return sales.flatMap((sale) => {
    const [amount, amountLeft] = [sale.amount, sale.amount_left].map((amount) => exchange(ctx, sale, amount, currency))
    const partnerNumber = partners.get(sale.partner_id)?.number
    const customer = customers.get(sale.customer_id)
    if (partnerNumber === undefined || amount === undefined || amountLeft === undefined) return []
    return {
      partnerNumber,
      amount,
      amountLeft,
      originalAmount: sale.original_amount ?? sale.amount,
      currency,
      at: sale.created_at,
      metadata: sale.metadata === null ? null : JSON.parse(sale.metadata),
      isFirst: sale.is_first,
      firstSaleAt: sale.first_sale_at,
      customer: {
        id: sale.customer_id,
        country: customer?.country ?? null,
        email: customer?.email ?? null,
        createdAt: customer?.created_at ?? sale.created_at,
        firstSaleAt: customer?.first_sale_at ?? sale.first_sale_at,
        source: 'tracked' as const,
      },
    }
  })
}

/** Converts at today's rate; undefined without one. */
function exchange(ctx: Ctx, sale: PartnerSale, amount: bigint, currency: string): bigint | undefined {
  return convert({ amount, currency: sale.currency ?? currency }, currency, exchangeRates(ctx))?.amount
}

function readIds({ partners }: Selected): string[] {
  return partners.map(({ id }) => id)
}

function present(
  { start, end, currency, isComplete }: Period & { currency: string; isComplete: boolean },
  { partners }: Selected,
  earnings: Map<bigint, SimulatedEarnings>,
): RewardSimulation {
  const sum = { sales: 0, saleAmount: 0n, current: 0n, proposed: 0n }
  const rows = partners.flatMap(({ number, id, name }) => {
    const own = earnings.get(number)
    if (!own) return []
    sum.sales += own.sales
    sum.saleAmount += own.saleAmount
    sum.current += own.current
    sum.proposed += own.proposed
    return [{ partnerId: id, name, ...presentEarnings(own) }]
  })
  return {
    start: start.toISOString(),
    end: end.toISOString(),
    currency,
    isComplete,
    ...presentEarnings(sum),
    partners: rows.sort((one, other) => Math.abs(other.difference) - Math.abs(one.difference)),
  }
}

function presentEarnings({ sales, saleAmount, current, proposed }: SimulatedEarnings) {
  return {
    sales,
    saleAmount: boundedSum(saleAmount),
    current: boundedSum(current),
    proposed: boundedSum(proposed),
    difference: boundedSum(proposed - current),
  }
}
