import { describe, expect, test } from 'vitest'
import type { Detail } from './commission.ts'
import { commissionText, nothingText } from './explanation-text.ts'

type Why = NonNullable<Detail['why']>

const line: Why['lines'][number] = {
  productId: null,
  amount: 9_995,
  quantity: 1,
  matching: [],
  modifier: null,
  type: 'percentage',
  rate: 1_250,
  maxDuration: 12,
  endsAt: '2027-01-31T12:00:00.000Z',
  isOpen: true,
  formula: '9995 × 1250 / 10000',
  earnings: 1_249,
}
const why: Why = {
  event: {
    kind: 'sale',
    at: '2026-01-31T12:00:00.000Z',
    amount: 9_995,
    originalAmount: 9_995,
    commissionableAmount: null,
    currency: 'usd',
    quantity: 1,
    customerId: 'cus_1',
    isFirst: true,
    partnerStatus: 'approved',
  },
  reward: { id: 'rw_1', version: 2, origin: 'group' },
  conditions: [],
  lines: [line],
  rounding: 'half_up',
  window: { firstSaleAt: '2026-01-31T12:00:00.000Z', endsAt: '2027-01-31T12:00:00.000Z' },
  cap: null,
  due: null,
  earnings: 1_249,
}
const commission = {
  type: 'sale' as const,
  status: 'pending' as const,
  description: null,
  amount: 9_995n,
  earnings: 1_249n,
  currency: 'usd',
  due_at: new Date('2026-03-02T12:00:00Z'),
  status_reason: null,
}

describe('why a commission has its amount', () => {
  test.each<[string, Partial<Parameters<typeof commissionText>[0]>, Detail]>([
    ["Version 2 of the group's reward: 12.5 % of 99.95 USD = 12.49 USD. It is due on 2026-03-02.", {}, { why }],
    [
      "Version 2 of the group's reward: 12.5 % of 99.95 USD = 12.49 USD. Refunds left 49.95 USD of the sale, which earn 6.24 USD. It is in the partner's payout.",
      { amount: 4_995n, earnings: 624n, status: 'processed' },
      { why },
    ],
    [
      "Version 2 of the partner's own reward: 12.5 % of 99.95 USD = 12.49 USD. Refunds left 0.00 USD of the sale, which earn 0.00 USD. It is refunded.",
      { amount: 0n, earnings: 0n, status: 'refunded' },
      { why: { ...why, reward: { id: 'rw_1', version: 2, origin: 'partner' } } },
    ],
    [
      "Version 2 of the group's reward: 50.00 USD × 2 for gold = 100.00 USD, nothing for old, because the window is over = 0.00 USD, which the spend limit lowers to 7.00 USD. It is due on 2026-03-02.",
      { earnings: 700n },
      {
        why: {
          ...why,
          lines: [
            { ...line, type: 'flat', rate: 5_000, quantity: 2, productId: 'gold', earnings: 10_000 },
            { ...line, productId: 'old', isOpen: false, earnings: 0 },
          ],
          cap: { amount: 1_000, interval: 'month', scope: 'partner', spent: 300, left: 700 },
          earnings: 700,
        },
      },
    ],
    [
      "Version 2 of the group's reward: 12.5 % of 99.95 USD = 12.49 USD. It is on hold, because a web page reported it with a publishable key, which anybody can read. Set its status to pending to confirm it.",
      { status: 'hold', status_reason: 'page' },
      { why },
    ],
    ['It was created by hand: Launch bonus. It is due on 2026-03-02.', { description: 'Launch bonus' }, { why: null }],
    [
      'A refund lowered the earnings of cm_1 from 12.49 USD to 6.24 USD after its payout was on its way.',
      {},
      { why: null, clawback: { commissionId: 'cm_1', refundId: 'evt_1', before: '1249', after: '624' } },
    ],
  ])('%s', (text, given, detail) => {
    expect(commissionText({ ...commission, ...given }, detail)).toBe(text)
  })
})

describe('why an event earned nothing', () => {
  const sale = { kind: 'sale' as const, link_number: 1n }
  const capped: Why = { ...why, cap: { amount: 600, interval: 'allTime', scope: 'partner', spent: 600, left: 0 } }
  const once: Why = { ...why, window: { firstSaleAt: why.event.at, endsAt: why.event.at } }
  const banned: Why = { ...why, event: { ...why.event, partnerStatus: 'banned' } }
  test.each([
    ['no_partner', null, 'The link of the sale did not belong to a partner.'],
    ['no_reward', why, 'Neither the partner nor its group had a reward for sales at the time of the sale.'],
    ['not_enrolled', null, 'The partner did not exist when the sale was decided.'],
    [
      'not_enrolled',
      banned,
      'The partner was banned when the sale was decided. Only approved, invited and archived partners earn.',
    ],
    ['window_over', why, "The customer's sales earned until 2027-01-31, counted from the first sale on 2026-01-31."],
    ['window_over', once, "Only the customer's first sale earns, and that was on 2026-01-31."],
    ['capped', capped, 'The spend limit of the reward was reached: 6.00 USD in total for each partner.'],
    ['duplicate_lead', why, 'The partner already has a lead commission for this customer.'],
    ['changed', null, 'The refund changed the commission of its sale.'],
  ])('%s', (reason, given, text) => {
    expect(nothingText(reason, given, sale)).toBe(text)
  })

  test('a sale without a link has no partner', () => {
    const text = nothingText('no_partner', null, { kind: 'sale', link_number: null })
    expect(text).toBe('The sale was not attributed to a link, so it has no partner.')
  })
})
