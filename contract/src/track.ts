import { z } from 'zod'
import { plainText } from './common.ts'
import { customerAvatar, customerEmail, customerExternalId } from './customers.ts'
import { operation } from './operation.ts'

export const leadModes = ['async', 'wait', 'deferred'] as const
export const paymentProcessors = [
  'stripe',
  'shopify',
  'polar',
  'paddle',
  'apple',
  'revenuecat',
  'lemonsqueezy',
  'dub',
  'custom',
] as const

const eventName = plainText(255).min(1)
const metadata = z
  .record(z.string(), z.unknown())
  .refine((value) => JSON.stringify(value).length <= 10_000, 'it is longer than 10,000 characters as JSON')
  .nullish()
  .describe('Custom data, up to 10,000 characters as JSON.')
const personal = {
  customerName: plainText(100).nullish(),
  customerEmail: customerEmail.nullish(),
  customerAvatar: customerAvatar.nullish(),
}

/** Renames `externalId` and `customerId` of old clients to `customerExternalId`. */
function withOldNames<T extends z.ZodType>(schema: T) {
  return z.preprocess((body) => {
    if (typeof body !== 'object' || body === null || 'customerExternalId' in body) return body
    const { externalId, customerId } = body as { externalId?: unknown; customerId?: unknown }
    const given = externalId || customerId
    return given ? { ...body, customerExternalId: given } : body
  }, schema)
}

export const newLead = withOldNames(
  z.object({
    clickId: z.string().trim().max(200).default('').describe("Click id; if empty, the customer's first known click."),
    eventName,
    customerExternalId: customerExternalId.describe('Id of the customer in your system.'),
    ...personal,
    mode: z
      .enum(leadModes)
      .default('async')
      .describe('`deferred` only creates the customer; a later call without `clickId` records the lead.'),
    eventQuantity: z.number().int().min(1).max(100).nullish().describe('Number of leads.'),
    metadata,
  }),
).meta({ id: 'NewLead' })
export type NewLead = z.output<typeof newLead>

const trackedLink = z.strictObject({
  id: z.string(),
  domain: z.string(),
  key: z.string(),
  shortLink: z.string(),
  url: z.string(),
  partnerId: z.string().nullable(),
  programId: z.string().nullable(),
  tenantId: z.string().nullable(),
  externalId: z.string().nullable(),
})
export type TrackedLink = z.infer<typeof trackedLink>

const trackedPerson = {
  name: z.string().nullable(),
  email: z.string().nullable(),
  avatar: z.string().nullable(),
  externalId: z.string().nullable(),
}

export const leadResult = z
  .strictObject({
    click: z.strictObject({ id: z.string() }),
    link: trackedLink.nullable().describe('The link; null when the click is older than the attribution window.'),
    customer: z.strictObject(trackedPerson),
  })
  .meta({ id: 'LeadResult' })
export type LeadResult = z.infer<typeof leadResult>

export const trackLead = operation({
  id: 'trackLead',
  method: 'post',
  path: '/track/lead',
  summary: 'Track a lead',
  description:
    'Records one lead per customer and event name: a repeated request returns the same response and records nothing. A publishable key gets `{}`, whether or not a lead was recorded.',
  tag: 'Track',
  scope: 'conversions.write',
  isAudited: false,
  isForPages: true,
  body: newLead,
  response: leadResult,
})

export const newTrackedCustomer = z
  .object({
    customerId: customerExternalId.describe('Id of the customer in your system.'),
    ...personal,
  })
  .meta({ id: 'NewTrackedCustomer' })
export type NewTrackedCustomer = z.output<typeof newTrackedCustomer>

const trackedCustomer = z
  .strictObject({
    customerId: z.string(),
    customerName: z.string().nullable(),
    customerEmail: z.string().nullable(),
    customerAvatar: z.string().nullable(),
  })
  .meta({ id: 'TrackedCustomer' })
export type TrackedCustomer = z.infer<typeof trackedCustomer>

export const trackCustomer = operation({
  id: 'trackCustomer',
  method: 'post',
  path: '/track/customer',
  summary: 'Create or update a customer',
  description:
    'Creates or updates a customer, for old clients; new clients use `POST /customers` and `PATCH /customers/{id}`. Omitted fields stay unchanged.',
  tag: 'Track',
  scope: 'conversions.write',
  isAudited: false,
  body: newTrackedCustomer,
  response: trackedCustomer,
})

/** Maximum amount of one sale, in the smallest unit of its currency. */
export const mostAmount = 1_000_000_000_000
/** Maximum amount converted to the workspace's currency; up to it, sums of JSON numbers are exact. */
export const mostConverted = 1_000_000_000_000_000

const currency = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'it is not a three-letter currency code')
  .transform((code) => code.toLowerCase())

export const newSale = withOldNames(
  z.object({
    customerExternalId: customerExternalId.describe('Id of the customer in your system.'),
    amount: z
      .number()
      .int()
      .min(0)
      .max(mostAmount)
      .describe('Amount in the smallest unit of the currency, such as cents or yen. At most 10^12.'),
    currency: currency.default('usd').describe('ISO 4217.'),
    eventName: eventName.default('Purchase'),
    paymentProcessor: z.enum(paymentProcessors).default('custom'),
    invoiceId: plainText(255).min(1).nullish().describe('Invoice id in your system. Each invoice is recorded once.'),
    metadata,
    leadEventName: plainText(255)
      .nullish()
      .describe('Event name of the lead that the sale belongs to; by default, the latest lead.'),
    clickId: z.string().trim().max(200).nullish().describe('Click id, for a sale without a previous lead.'),
    ...personal,
  }),
).meta({ id: 'NewSale' })
export type NewSale = z.output<typeof newSale>

export const saleResult = z
  .strictObject({
    eventName: z.string(),
    customer: z.strictObject({ id: z.string(), ...trackedPerson }).nullable(),
    sale: z
      .strictObject({
        amount: z.number(),
        currency: z.string(),
        paymentProcessor: z.string(),
        invoiceId: z.string().nullable(),
        metadata: z.record(z.string(), z.unknown()).nullable(),
      })
      .nullable(),
  })
  .meta({ id: 'SaleResult' })
export type SaleResult = z.infer<typeof saleResult>

export const trackSale = operation({
  id: 'trackSale',
  method: 'post',
  path: '/track/sale',
  summary: 'Track a sale',
  description:
    "Records a sale and converts its amount to the workspace's currency; the original amount is stored too. A repeated `invoiceId` returns the first response. A publishable key gets `{}`, whether or not a sale was recorded; a sale from a secret key replaces one from a publishable key with the same `invoiceId`.",
  tag: 'Track',
  scope: 'conversions.write',
  isAudited: false,
  isForPages: true,
  body: newSale,
  response: saleResult,
})

export const newRefund = z
  .object({
    invoiceId: plainText(255).min(1).describe('Invoice id of the sale.'),
    amount: z
      .number()
      .int()
      .min(1)
      .max(mostAmount)
      .nullish()
      .describe("Refunded amount in the sale's currency; by default, the remaining amount."),
    refundId: plainText(255).min(1).nullish().describe('Refund id in your system. Each refund is recorded once.'),
    metadata,
  })
  .meta({ id: 'NewRefund' })
export type NewRefund = z.output<typeof newRefund>

export const refundResult = z
  .strictObject({
    refund: z.strictObject({
      id: z.string(),
      amount: z.number().describe("Refunded amount in the workspace's currency."),
      currency: z.string(),
      invoiceId: z.string(),
      refundId: z.string().nullable(),
      isFull: z.boolean().describe('Whether the sale is fully refunded.'),
    }),
    sale: z.strictObject({ amount: z.number().describe('Remaining amount.'), currency: z.string() }),
  })
  .meta({ id: 'RefundResult' })
export type RefundResult = z.infer<typeof refundResult>

export const trackRefund = operation({
  id: 'trackRefund',
  method: 'post',
  path: '/track/refund',
  summary: 'Track a refund',
  description: 'Refunds a sale fully or partially. Totals and analytics decrease by the refund from now on.',
  tag: 'Track',
  scope: 'conversions.write',
  isAudited: false,
  body: newRefund,
  response: refundResult,
})
