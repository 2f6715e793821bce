import { z } from 'zod'
import { advancedFilter, instant, pageNumber, pageSize, plainText, sortOrder } from './common.ts'
import { customer, customerAvatar, customerEmail, customerExternalId } from './customers.ts'
import { intervals } from './events.ts'
import { operation } from './operation.ts'
import { rewardReasoning } from './reward-terms.ts'
import { mostAmount, paymentProcessors } from './track.ts'

const types = ['click', 'lead', 'sale', 'referral', 'custom'] as const
const statuses = ['pending', 'processed', 'paid', 'refunded', 'duplicate', 'fraud', 'canceled', 'hold'] as const
const settableStatuses = ['pending', 'refunded', 'duplicate', 'canceled', 'fraud'] as const
export type SettableStatus = (typeof settableStatuses)[number]

/** Maximum earnings of one commission that is created or changed by hand, in the smallest unit of the currency. */
const mostEarnings = 1_000_000_000_000

export const commissionPartner = z
  .strictObject({
    id: z.string(),
    name: z.string(),
    email: z.string().nullable(),
    image: z.string().nullable(),
    payoutsEnabledAt: instant.nullable(),
    country: z.string().nullable(),
    groupId: z.string().nullable().optional(),
  })
  .meta({ id: 'CommissionPartner' })

export const commission = z
  .strictObject({
    id: z.string(),
    type: z.enum(types),
    amount: z.number().int().describe("The sale's amount that is left after refunds, in the program's currency."),
    earnings: z.number().int().describe('What the partner earns. Negative for a clawback.'),
    currency: z.string(),
    status: z.enum(statuses),
    invoiceId: z.string().nullable(),
    description: z.string().nullable(),
    quantity: z.number().int(),
    userId: z.string().nullable().optional(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    createdAt: instant,
    updatedAt: instant,
    paidAt: instant.nullable(),
    partner: commissionPartner.describe('Only ids and name without the scope `partners.read`.'),
    customer: customer
      .nullable()
      .optional()
      .describe('Without the scope `customers.read`, without e-mail address, avatar and Stripe id.'),
  })
  .meta({ id: 'Commission' })
export type Commission = z.infer<typeof commission>

export const listCommissions = operation({
  id: 'listCommissions',
  method: 'get',
  path: '/commissions',
  summary: 'List commissions',
  description:
    'Lists what partners earned, newest first. An event that earned nothing is not in the list: `GET /commissions/explanation` says why.',
  tag: 'Commissions',
  scope: 'commissions.read',
  query: z.object({
    type: z.enum(types).optional(),
    customerId: z.string().max(100).optional(),
    payoutId: z.string().max(100).optional(),
    partnerId: advancedFilter('Id of the partner.'),
    tenantId: z.string().max(255).optional().describe("The partner's id in your system. Ignored with `partnerId`."),
    groupId: advancedFilter("Id of the partner's group."),
    partnerTagId: advancedFilter("Id of one of the partner's tags."),
    invoiceId: z.string().max(255).optional(),
    status: z.enum(statuses).optional(),
    interval: z
      .enum(intervals)
      .default('all')
      .describe('Period that ends now, in which the commissions were created. Ignored when `start` is given.'),
    start: z.string().max(100).optional().describe('Start of the period.'),
    end: z.string().max(100).optional().describe('End of the period, by default now. Used only with `start`.'),
    timezone: z.string().max(100).optional().describe('IANA time zone, by default UTC.'),
    query: z.string().max(10_000).optional().describe("Search in metadata: `metadata['key']:'value'`."),
    endingBefore: z.string().max(100).optional().describe('Cursor: id of the commission before which the page ends.'),
    startingAfter: z.string().max(100).optional().describe('Cursor: id of the commission after which the page starts.'),
    sortBy: z.enum(['createdAt', 'amount']).default('createdAt').describe('Sort column.'),
    sortOrder: sortOrder.default('desc').describe('Sort order: ascending or descending.'),
    page: pageNumber.describe('Page number, from 1. For many pages, use `startingAfter`.').meta({ deprecated: true }),
    pageSize: pageSize(100),
  }),
  response: z.array(commission),
})
export type CommissionsQuery = z.output<typeof listCommissions.query>

const when = z.iso.datetime({ offset: true }).or(z.iso.date()).nullish()
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 10_000, 'it has more than 10,000 characters as JSON')
  .nullish()
const country = z
  .string()
  .regex(/^[A-Za-z]{2}$/, 'it is not a two-letter country code')
  .transform((code) => code.toUpperCase())
const currency = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'it is not a three-letter currency code')
  .transform((code) => code.toLowerCase())

const commissionCustomer = z.object({
  externalId: customerExternalId.describe("The customer's id in your system."),
  country,
  email: customerEmail.nullish(),
  name: plainText(100).nullish(),
  avatar: customerAvatar.nullish(),
  stripeCustomerId: plainText(255).min(1).nullish(),
})
const selectors = {
  partnerId: z.string().max(100),
  customerId: z.string().max(100).nullish().describe('Id of a customer; or send `customer`.'),
  customer: commissionCustomer.nullish().describe('The customer, created if there is none with this `externalId`.'),
  linkId: z.string().max(100).nullish().describe('A link of the partner; by default its link with the most revenue.'),
  date: when.describe('When it happened, by default now.'),
}
const custom = z.object({
  type: z.literal('custom'),
  partnerId: z.string().max(100),
  amount: z
    .number()
    .int()
    .min(-mostEarnings)
    .max(mostEarnings)
    .describe("Earnings in the smallest unit of the program's currency; negative for a clawback."),
  date: when,
  description: plainText(190).nullish().describe('Required for a clawback.'),
})
const lead = z.object({
  type: z.literal('lead'),
  ...selectors,
  lead: z.object({ eventName: plainText(255).nullish(), metadata }).nullish(),
  leadEventDate: when.meta({ deprecated: true }),
  leadEventName: plainText(255).nullish().meta({ deprecated: true }),
})
const sale = z.object({
  type: z.literal('sale'),
  ...selectors,
  importStripeInvoices: z.boolean().nullish(),
  sale: z
    .object({
      amount: z.number().int().min(0).max(mostAmount).nullish(),
      currency: currency.default('usd'),
      eventName: plainText(255).min(1).default('Purchase'),
      paymentProcessor: z.enum(paymentProcessors).default('custom'),
      invoiceId: plainText(255).min(1).nullish(),
      metadata,
    })
    .nullish(),
  saleEventDate: when.meta({ deprecated: true }),
  saleAmount: z.number().int().min(0).max(mostAmount).nullish().meta({ deprecated: true }),
  invoiceId: plainText(255).min(1).nullish().meta({ deprecated: true }),
  productId: plainText(255).nullish().meta({ deprecated: true }),
})
export const newCommission = z.discriminatedUnion('type', [custom, lead, sale]).meta({ id: 'NewCommission' })
export type NewCommission = z.output<typeof newCommission>
export type NewCustomCommission = z.output<typeof custom>
export type NewLeadCommission = z.output<typeof lead>
export type NewSaleCommission = z.output<typeof sale>

export const createCommission = operation({
  id: 'createCommission',
  method: 'post',
  path: '/commissions',
  summary: 'Create a commission',
  description:
    'Creates a `custom` commission with the given earnings, or records a lead or sale of a partner by hand; its reward is then decided within two seconds. `GET /commissions/explanation` tells why it earned nothing.',
  tag: 'Commissions',
  scope: 'commissions.write',
  body: newCommission,
  status: 202,
  response: z.strictObject({ success: z.boolean(), message: z.string() }),
})

const params = z.object({ id: z.string().max(100).describe('Id of the commission.') })

export const getCommission = operation({
  id: 'getCommission',
  method: 'get',
  path: '/commissions/{id}',
  summary: 'Get a commission',
  description: 'Returns a commission with its partner and customer.',
  tag: 'Commissions',
  scope: 'commissions.read',
  params,
  response: commission,
})

const saleAmount = z.number().int().min(0).max(mostAmount)
const saleChange = z.number().int().min(-mostAmount).max(mostAmount)
export const commissionPatch = z
  .object({
    earnings: z.number().int().min(0).max(mostEarnings).optional().describe("New earnings, in the program's currency."),
    saleAmount: saleAmount.optional().describe('New amount of the sale; the earnings follow by the same terms.'),
    modifySaleAmount: saleChange.optional().describe('Change of the sale amount; beats `saleAmount`.'),
    currency: currency.default('usd').describe('Currency of `saleAmount` and `modifySaleAmount`.'),
    status: z.enum(settableStatuses).optional().describe('New status; beats amounts.'),
    amount: saleAmount.optional().describe('Use `saleAmount`.').meta({ deprecated: true }),
    modifyAmount: saleChange.optional().describe('Use `modifySaleAmount`.').meta({ deprecated: true }),
  })
  .meta({ id: 'CommissionPatch' })
export type CommissionPatch = z.output<typeof commissionPatch>

export const updateCommission = operation({
  id: 'updateCommission',
  method: 'patch',
  path: '/commissions/{id}',
  summary: 'Update a commission',
  description:
    'Changes the amount, earnings or status. Paid commissions and those whose payout is under way never change: create a clawback instead.',
  tag: 'Commissions',
  scope: 'commissions.write',
  params,
  body: commissionPatch.optional(),
  response: commission,
})

export const bulkUpdateCommissions = operation({
  id: 'bulkUpdateCommissions',
  method: 'patch',
  path: '/commissions/bulk',
  summary: 'Update many commissions',
  description: 'Sets the status of up to 100 commissions: all of them, or none when one can not be changed.',
  tag: 'Commissions',
  scope: 'commissions.write',
  body: z
    .object({ commissionIds: z.array(z.string().max(100)).min(1).max(100), status: z.enum(settableStatuses) })
    .meta({ id: 'CommissionsPatch' }),
  response: z.array(z.strictObject({ id: z.string(), status: z.enum(statuses) })),
})

const explanation = z
  .strictObject({
    outcome: z.enum(['commission', 'nothing', 'waiting']).describe('`waiting` for an event that is not decided yet.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why the event earned nothing: `no_reward`, `window_over`, `capped`, `not_enrolled`, `self_referral`, `zero`, `voided`, `duplicate_lead`, `no_partner`; for a refund `no_sale`, `no_commission` or `unchanged`. Why it still waits: `no_country`, `no_exchange_rate`, `earlier_event` or `failed`.',
      ),
    text: z.string().describe('The explanation in words.'),
    commissionId: z.string().nullable(),
    eventId: z.string().nullable().describe('Id of the lead, sale or refund.'),
    linkId: z.string().nullable(),
    clickId: z.string().nullable(),
    attribution: z
      .string()
      .nullable()
      .describe(
        'How the event got its link: `lead`, `last_click`, `first_click`, `stored_click`, `discount_code` or `by_hand`.',
      ),
    earnings: z.number().int(),
    dueAt: instant.nullable(),
    reasoning: rewardReasoning
      .nullable()
      .describe('Terms, conditions and formula. They give the earnings of the whole amount; refunds follow below.'),
    exchange: z
      .strictObject({ amount: z.number(), currency: z.string(), date: z.string() })
      .nullable()
      .describe("The sale in its own currency, and the date of the exchange rate to the program's currency."),
    edit: z
      .strictObject({ amount: z.number(), of: z.number(), earnings: z.number().nullable() })
      .nullable()
      .describe('A change by hand: the amount when `of` of the sale was left, and the earnings if they were set.'),
    clawback: z
      .strictObject({ commissionId: z.string(), refundId: z.string(), before: z.number(), after: z.number() })
      .nullable()
      .describe('The commission that a refund corrects after it was paid, and its earnings before and after.'),
    refunds: z
      .array(z.strictObject({ eventId: z.string(), amount: z.number(), createdAt: instant }))
      .describe('The newest 1,000 refunds of the sale.'),
    postings: z
      .array(z.strictObject({ kind: z.string(), amount: z.number(), createdAt: instant }))
      .describe(
        'The newest 1,000 postings of the commission in the ledger; the amounts are added to what you owe the partner.',
      ),
  })
  .meta({ id: 'CommissionExplanation' })
export type CommissionExplanation = z.infer<typeof explanation>

export const explainCommission = operation({
  id: 'explainCommission',
  method: 'get',
  path: '/commissions/{id}/explanation',
  summary: 'Explain a commission',
  description: 'Why the commission has its amount: terms, conditions, formula, rounding, window, cap and due date.',
  tag: 'Commissions',
  scope: 'commissions.read',
  params,
  response: explanation,
})

export const explainEvent = operation({
  id: 'explainEvent',
  method: 'get',
  path: '/commissions/explanation',
  summary: 'Explain what an event earned',
  description: 'Why a lead, sale or refund earned a commission, or why nothing. Send `eventId` or `invoiceId`.',
  tag: 'Commissions',
  scope: 'commissions.read',
  query: z.object({
    eventId: z.string().max(100).optional().describe('Id of a lead, sale or refund.'),
    invoiceId: z.string().max(255).optional().describe('Invoice of a sale.'),
  }),
  response: explanation,
})
