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
  .describe('Whatever you want to find again, 10,000 characters as JSON at most.')
const personal = {
  customerName: plainText(100).nullish(),
  customerEmail: customerEmail.nullish(),
  customerAvatar: customerAvatar.nullish(),
}

/** Clients of old send `externalId` or `customerId`. */
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
    clickId: z.string().trim().max(200).default('').describe('Empty: the click that is known of the customer.'),
    eventName,
    customerExternalId: customerExternalId.describe('Your own id of the customer.'),
    ...personal,
    mode: z
      .enum(leadModes)
      .default('async')
      .describe('`deferred` only makes the customer; a later call without `clickId` records the lead.'),
    eventQuantity: z.number().int().min(1).max(100).nullish().describe('How many leads this is.'),
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
    link: trackedLink.nullable().describe('Null when the click is older than the attribution window.'),
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
    'One lead for each customer and event name, for ever: a repeat gets the same answer and records nothing. A publishable key gets `{}`, whether or not a lead was recorded.',
  tag: 'Track',
  scope: 'conversions.write',
  isForPages: true,
  body: newLead,
  response: leadResult,
})

export const newTrackedCustomer = z
  .object({
    customerId: customerExternalId.describe('Your own id of the customer.'),
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
    'For clients of older versions; `POST /customers` and `PATCH /customers/{id}` say more. Fields that are left out stay.',
  tag: 'Track',
  scope: 'conversions.write',
  body: newTrackedCustomer,
  response: trackedCustomer,
})

/** The largest amount of one sale, in the smallest unit of its currency. */
export const mostAmount = 1_000_000_000_000
/** The largest amount that it may come to in the currency of the workspace: JSON numbers are exact up to there. */
export const mostConverted = 1_000_000_000_000_000

const currency = z
  .string()
  .regex(/^[A-Za-z]{3}$/, 'it is no currency of three letters')
  .transform((code) => code.toLowerCase())

export const newSale = withOldNames(
  z.object({
    customerExternalId: customerExternalId.describe('Your own id of the customer.'),
    amount: z
      .number()
      .int()
      .min(0)
      .max(mostAmount)
      .describe('In the smallest unit of the currency: cents, or whole yen. 10^12 at most.'),
    currency: currency.default('usd').describe('ISO 4217.'),
    eventName: eventName.default('Purchase'),
    paymentProcessor: z.enum(paymentProcessors).default('custom'),
    invoiceId: plainText(255).min(1).nullish().describe('One sale for each invoice, for ever.'),
    metadata,
    leadEventName: plainText(255).nullish().describe('The lead that the sale belongs to; the latest when omitted.'),
    clickId: z.string().trim().max(200).nullish().describe('For a sale without a lead before it.'),
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
    'The amount is converted to the currency of the workspace; what you sent is kept too. A repeated `invoiceId` gets the first answer. A publishable key gets `{}`, whether or not a sale was recorded; a sale that a secret key reports replaces the one that a publishable key reported for the same `invoiceId`.',
  tag: 'Track',
  scope: 'conversions.write',
  isForPages: true,
  body: newSale,
  response: saleResult,
})

export const newRefund = z
  .object({
    invoiceId: plainText(255).min(1).describe('The invoice of the sale.'),
    amount: z
      .number()
      .int()
      .min(1)
      .max(mostAmount)
      .nullish()
      .describe('In the currency of the sale; all that is left of it when omitted.'),
    refundId: plainText(255).min(1).nullish().describe('Your own id of the refund: one refund for each, for ever.'),
    metadata,
  })
  .meta({ id: 'NewRefund' })
export type NewRefund = z.output<typeof newRefund>

export const refundResult = z
  .strictObject({
    refund: z.strictObject({
      id: z.string(),
      amount: z.number().describe('In the currency of the workspace.'),
      currency: z.string(),
      invoiceId: z.string(),
      refundId: z.string().nullable(),
      isFull: z.boolean().describe('Whether nothing is left of the sale.'),
    }),
    sale: z.strictObject({ amount: z.number().describe('What is left.'), currency: z.string() }),
  })
  .meta({ id: 'RefundResult' })
export type RefundResult = z.infer<typeof refundResult>

export const trackRefund = operation({
  id: 'trackRefund',
  method: 'post',
  path: '/track/refund',
  summary: 'Track a refund',
  description: 'Takes a sale back, as a whole or in part: totals and analytics go down by it from now on.',
  tag: 'Track',
  scope: 'conversions.write',
  body: newRefund,
  response: refundResult,
})
