import { z } from 'zod'
import { instant, listing } from './common.ts'
import { operation } from './operation.ts'

export const discountCode = z
  .strictObject({
    id: z.string(),
    code: z.string(),
    discountId: z.string().nullable(),
    partnerId: z.string(),
    linkId: z.string(),
    disabledAt: instant.nullable().describe('When the partner was banned or deactivated.'),
  })
  .meta({ id: 'DiscountCode' })
export type DiscountCode = z.infer<typeof discountCode>

export const newDiscountCode = z
  .object({
    partnerId: z.string().max(255),
    linkId: z.string().max(255).describe('A link of the partner, which sales with the code are credited to.'),
    code: z
      .string()
      .trim()
      .max(100)
      .regex(/^[A-Za-z0-9_-]*$/, 'it may have only letters, digits, `-` and `_`')
      .optional()
      .describe("Unique in the program, ignoring case; made from the partner's name when omitted or empty."),
  })
  .meta({ id: 'NewDiscountCode' })
export type NewDiscountCode = z.infer<typeof newDiscountCode>

export const listDiscountCodes = operation({
  id: 'listDiscountCodes',
  method: 'get',
  path: '/discount-codes',
  summary: 'List discount codes',
  description: 'Lists the discount codes of partners.',
  tag: 'Discount codes',
  scope: 'partners.read',
  query: z.object({
    partnerId: z.string().max(255).optional().describe('Only codes of this partner.'),
    discountId: z.string().max(255).optional().describe('Only codes of this discount.'),
    ...listing(100, ['createdAt'], 'desc'),
  }),
  response: z.array(discountCode),
})
export type DiscountCodesQuery = z.output<typeof listDiscountCodes.query>

export const createDiscountCode = operation({
  id: 'createDiscountCode',
  method: 'post',
  path: '/discount-codes',
  summary: 'Create a discount code',
  description: "Creates the code of a partner's link, for the discount of the partner's group.",
  tag: 'Discount codes',
  scope: 'partners.write',
  body: newDiscountCode,
  response: discountCode,
})

export const deleteDiscountCode = operation({
  id: 'deleteDiscountCode',
  method: 'delete',
  path: '/discount-codes/{idOrCode}',
  summary: 'Delete a discount code',
  description: 'Deletes the code, by id or by its text. Another link can then get the same code.',
  tag: 'Discount codes',
  scope: 'partners.write',
  params: z.object({ idOrCode: z.string().describe('Id of the code, or the code itself, ignoring case.') }),
  response: z.strictObject({ id: z.string() }),
})
