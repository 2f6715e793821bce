import { z } from 'zod'
import { booleanText, instant, listing, plainText } from './common.ts'
import { discount } from './discounts.ts'
import { operation } from './operation.ts'

const base = {
  id: z.string(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  avatar: z.string().nullable(),
  externalId: z.string().describe("The customer's id in your system; empty after the customer was deleted."),
  stripeCustomerId: z.string().nullable(),
  country: z.string().nullable(),
  sales: z.number(),
  saleAmount: z.number().describe('In cents.'),
  createdAt: instant,
  firstSaleAt: instant.nullable(),
  subscriptionCanceledAt: instant.nullable(),
}

/** Schema of the customer object in events and webhooks. */
export const customer = z.strictObject(base).meta({ id: 'Customer' })
export type Customer = z.infer<typeof customer>

const customerLink = z.strictObject({
  id: z.string(),
  domain: z.string(),
  key: z.string(),
  shortLink: z.string(),
  url: z.string(),
  programId: z.string().nullable(),
})

const customerPartner = z.strictObject({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  image: z.string().nullable(),
})

const customerDiscount = discount
  .pick({
    id: true,
    amount: true,
    type: true,
    maxDuration: true,
    couponId: true,
    couponTestId: true,
    description: true,
  })
  .strict()
export type CustomerDiscount = z.infer<typeof customerDiscount>

export const expandedCustomer = z
  .strictObject({
    ...base,
    link: customerLink
      .nullable()
      .optional()
      .describe('The link that referred the customer; only with `includeExpandedFields`.'),
    programId: z.string().nullable().optional(),
    partner: customerPartner.nullable().optional().describe("The link's partner; only with `includeExpandedFields`."),
    discount: customerDiscount
      .nullable()
      .optional()
      .describe("The discount of the partner's group; only with `includeExpandedFields`."),
  })
  .meta({ id: 'ExpandedCustomer' })
export type ExpandedCustomer = z.infer<typeof expandedCustomer>

export const customerEmail = z.email().max(100)
export const customerExternalId = plainText(100).min(1)
export const customerAvatar = plainText(2_000)

export const customerPatch = z
  .object({
    email: customerEmail.nullish(),
    name: plainText(100).nullish(),
    avatar: z.url().max(2_000).nullish(),
    externalId: customerExternalId.optional(),
    stripeCustomerId: plainText(255).min(1).nullish(),
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/, 'it is not a two-letter country code')
      .transform((code) => code.toUpperCase())
      .optional(),
  })
  .meta({ id: 'CustomerPatch' })
export type CustomerPatch = z.output<typeof customerPatch>

export const newCustomer = z
  .object({
    externalId: customerExternalId.describe("The customer's id in your system. It is stored unchanged."),
    email: customerEmail.nullish(),
    name: plainText(100).nullish(),
    avatar: customerAvatar.nullish(),
  })
  .meta({ id: 'NewCustomer' })
export type NewCustomer = z.output<typeof newCustomer>

/** The path of operations on one customer. */
export const customerParams = z.object({
  id: z.string().describe('Id of the customer, or your own id prefixed with `ext_`.'),
})
const expansion = {
  includeExpandedFields: booleanText.optional().describe("Adds the customer's link, partner and discount."),
}

const filters = {
  email: z.string().max(100).optional().describe('Only the customer with exactly this e-mail address.'),
  externalId: z.string().max(100).optional().describe('Only the customer with exactly this external id.'),
  search: z
    .string()
    .max(200)
    .optional()
    .describe('Part of the e-mail address, external id or name; or a whole id or Stripe id.'),
  country: z.string().max(2).optional(),
  linkId: z.string().optional().describe('Only customers that this link referred.'),
  programId: z.string().optional().describe('Only customers whose link belongs to this program.'),
  partnerId: z.string().optional().describe('Only customers whose link belongs to this partner.'),
}
const sorts = ['createdAt', 'saleAmount', 'firstSaleAt', 'subscriptionCanceledAt'] as const

export const listCustomers = operation({
  id: 'getCustomers',
  method: 'get',
  path: '/customers',
  summary: 'List customers',
  tag: 'Customers',
  scope: 'customers.read',
  query: z.object({
    ...filters,
    ...expansion,
    startingAfter: z.string().optional().describe('Cursor: id of the customer after which the page starts.'),
    endingBefore: z.string().optional().describe('Cursor: id of the customer before which the page ends.'),
    ...listing(100, sorts, 'desc'),
  }),
  response: z.array(expandedCustomer),
})
export type CustomersQuery = z.output<typeof listCustomers.query>

export const countCustomers = operation({
  id: 'getCustomersCount',
  method: 'get',
  path: '/customers/count',
  summary: 'Count customers',
  description: 'Returns the number of customers that match the filters of `GET /customers`.',
  tag: 'Customers',
  scope: 'customers.read',
  query: z.object(filters),
  response: z.number(),
})
export type CustomersCountQuery = z.output<typeof countCustomers.query>

export const createCustomer = operation({
  id: 'createCustomer',
  method: 'post',
  path: '/customers',
  summary: 'Create a customer',
  description:
    'Creates a customer without a click: a later lead or sale with the same `externalId` is attributed by its own click.',
  tag: 'Customers',
  scope: 'customers.write',
  body: newCustomer,
  status: 201,
  response: expandedCustomer,
})

export const getCustomer = operation({
  id: 'getCustomer',
  method: 'get',
  path: '/customers/{id}',
  summary: 'Get a customer',
  tag: 'Customers',
  scope: 'customers.read',
  params: customerParams,
  query: z.object(expansion),
  response: expandedCustomer,
})

export const updateCustomer = operation({
  id: 'updateCustomer',
  method: 'patch',
  path: '/customers/{id}',
  summary: 'Update a customer',
  tag: 'Customers',
  scope: 'customers.write',
  params: customerParams,
  query: z.object(expansion),
  body: customerPatch,
  response: expandedCustomer,
})

export const deleteCustomer = operation({
  id: 'deleteCustomer',
  method: 'delete',
  path: '/customers/{id}',
  summary: 'Delete a customer',
  description:
    'Erases name, e-mail address, picture, external ids, event metadata and IP addresses everywhere. The events stay without personal data. `GET /customers/{id}/erasure` tells when it is done.',
  tag: 'Customers',
  scope: 'customers.write',
  params: customerParams,
  response: z.strictObject({ id: z.string() }),
})
