import { expect, test } from 'vitest'
import { buildSale, buildVersion } from '../../../test/rewards.ts'
import { openSimulation, type SimulatedPartner, type SimulatedSale } from './simulation.ts'
import type { RewardVersion } from './terms.ts'

const start = new Date('2026-03-01T00:00:00Z')
const { partner: profile, customer, ...event } = buildSale()
const flat = (amountInCents: number, more = {}) => buildVersion({ type: 'flat', amountInCents, ...more })

function simulate(partners: SimulatedPartner[], sales: SimulatedSale[]) {
  const { add, earnings } = openSimulation(partners, start)
  for (const sale of sales) add(sale)
  return earnings
}

function buildPartner(proposed: RewardVersion, given: Partial<SimulatedPartner> = {}): SimulatedPartner {
  const current = { partner: null, group: buildVersion() }
  return { ...profile, number: 1n, groupNumber: 9n, current, proposed: { partner: null, group: proposed }, ...given }
}

function sell(given: Partial<SimulatedSale> & { buyer?: string } = {}): SimulatedSale {
  const { buyer = 'cus_1', ...more } = given
  const at = given.at ?? event.at
  const who = { ...customer, id: buyer } as SimulatedSale['customer']
  return { ...event, partnerNumber: 1n, customer: who, amountLeft: event.amount, firstSaleAt: at, ...more, at }
}

test('adds up earnings under the current and the proposed terms', () => {
  const partners = [buildPartner(flat(300)), buildPartner(flat(300), { number: 2n })]
  const sales = [sell(), sell({ buyer: 'cus_2', amount: 20_000n, originalAmount: 20_000n, amountLeft: 10_000n })]
  expect(simulate(partners, [...sales, sell({ partnerNumber: 3n })])).toEqual(
    new Map([[1n, { sales: 2, saleAmount: 30_000n, current: 2_000n, proposed: 600n }]]),
  )
})

test('windows begin with the first sale, also with one before the period', () => {
  const partner = buildPartner(buildVersion({ maxDuration: 1 }))
  const firstSaleAt = new Date('2026-02-20T00:00:00Z')
  const sales = [sell({ firstSaleAt }), sell({ firstSaleAt, at: new Date('2026-03-25T00:00:00Z') })]
  expect(simulate([partner], sales).get(1n)).toMatchObject({ current: 2_000n, proposed: 1_000n })
  const once = buildPartner(buildVersion({ maxDuration: 0 }))
  const twice = [sell(), sell({ at: new Date('2026-03-20T00:00:00Z'), firstSaleAt: event.at })]
  expect(simulate([once], twice).get(1n)).toMatchObject({ current: 2_000n, proposed: 1_000n })
  expect(simulate([once], [sell({ firstSaleAt })]).get(1n)).toMatchObject({ current: 1_000n, proposed: 0n })
})

test('limits are counted within the simulation, and tiers grow with the sales', () => {
  const limited = buildPartner(buildVersion({ spendLimitAmount: 1_500, spendLimitScope: 'group' }))
  const partners = [limited, { ...limited, number: 2n }]
  const sales = [sell(), sell({ partnerNumber: 2n }), sell({ buyer: 'cus_2' })]
  expect([...simulate(partners, sales).values()].map(({ proposed }) => proposed)).toEqual([1_000n, 500n])
  const conditions = [
    { entity: 'partner', attribute: 'totalSaleAmount', operator: 'greater_than_or_equal', value: 20_000 } as const,
  ]
  const tiers = buildVersion({
    modifiers: [{ operator: 'AND', conditions, type: 'percentage', amountInPercentage: 50 }],
  })
  const three = [sell(), sell(), sell()]
  expect(simulate([buildPartner(tiers)], three).get(1n)).toMatchObject({ proposed: 1_000n + 1_000n + 5_000n })
})

test('partners without a reward earn nothing until they get one', () => {
  const none = { partner: null, group: null }
  const partner = buildPartner(flat(100), { current: none })
  expect(simulate([partner], [sell()]).get(1n)).toMatchObject({ current: 0n, proposed: 100n })
})
