import { z } from 'zod'
import { instant, listing, plainText } from './common.ts'
import { operation } from './operation.ts'

const type = z.enum(['flat', 'percentage'])
const provider = z.enum(['stripe', 'shopify', 'custom'])
const text = plainText(190).nullable().optional()

export const discount = z
  .strictObject({
    id: z.string(),
    groupId: z.string(),
    type,
    amount: z.number().describe("The smallest unit of the program's currency, or percent."),
    maxDuration: z
      .number()
      .int()
      .nullable()
      .describe('Months that a customer gets the discount; 0 for the first sale, null for ever.'),
    provider,
    couponId: z.string().nullable(),
    couponTestId: z.string().nullable(),
    description: z.string().nullable(),
    codeWins: z.boolean(),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Discount' })
export type Discount = z.infer<typeof discount>

const settings = {
  maxDuration: z.number().int().min(0).max(600).nullable().optional(),
  provider: provider.optional().describe('Shop or payment system that knows the codes; `custom` when omitted.'),
  couponId: text,
  couponTestId: text,
  description: text,
  codeWins: z.boolean().optional().describe("Credits a sale with a code to the code's link, even after another click."),
}
const amount = z
  .number()
  .min(0)
  .max(99_999_999)
  .describe("The smallest unit of the program's currency, or percent with up to two decimals.")

export const newDiscount = z
  .object({ groupId: z.string().max(100), type, amount, ...settings })
  .meta({ id: 'NewDiscount' })
export type NewDiscount = z.infer<typeof newDiscount>

export const discountPatch = z
  .object({ type: type.optional(), amount: amount.optional(), ...settings })
  .meta({ id: 'DiscountPatch' })
export type DiscountPatch = z.infer<typeof discountPatch>

const params = z.object({ id: z.string().describe('Id of the discount.') })

export const listDiscounts = operation({
  id: 'listDiscounts',
  method: 'get',
  path: '/discounts',
  summary: 'List discounts',
  description: "Lists the discounts that partners' customers get. A group has at most one.",
  tag: 'Discounts',
  scope: 'partners.read',
  query: z.object({
    groupId: z.string().optional().describe('Only the discount of this group.'),
    ...listing(50, ['createdAt'], 'desc'),
  }),
  response: z.array(discount),
})
export type DiscountsQuery = z.output<typeof listDiscounts.query>

export const getDiscount = operation({
  id: 'getDiscount',
  method: 'get',
  path: '/discounts/{id}',
  summary: 'Get a discount',
  description: 'Returns a discount.',
  tag: 'Discounts',
  scope: 'partners.read',
  params,
  response: discount,
})

export const createDiscount = operation({
  id: 'createDiscount',
  method: 'post',
  path: '/discounts',
  summary: 'Create a discount',
  description: 'Creates the discount that partners of a group may give. A group has at most one.',
  tag: 'Discounts',
  scope: 'partners.write',
  body: newDiscount,
  status: 201,
  response: discount,
})

export const updateDiscount = operation({
  id: 'updateDiscount',
  method: 'patch',
  path: '/discounts/{id}',
  summary: 'Update a discount',
  description:
    'Changes a discount. Omitted fields stay unchanged. Existing codes give the new discount; your shop or payment system grants it.',
  tag: 'Discounts',
  scope: 'partners.write',
  params,
  body: discountPatch,
  response: discount,
})

export const deleteDiscount = operation({
  id: 'deleteDiscount',
  method: 'delete',
  path: '/discounts/{id}',
  summary: 'Delete a discount',
  description: 'Deletes the discount. Codes stay, without a discount.',
  tag: 'Discounts',
  scope: 'partners.write',
  params,
  response: z.strictObject({ id: z.string() }),
})
