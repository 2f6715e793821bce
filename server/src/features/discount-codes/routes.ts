import * as contract from '@tributary/contract/discount-codes'
import { route } from '../../platform/http.ts'
import { createDiscountCode, deleteDiscountCode, listDiscountCodes } from './service.ts'

export const discountCodesRoutes = [
  route(contract.listDiscountCodes, (ctx, { query }) => listDiscountCodes(ctx, query)),
  route(contract.createDiscountCode, (ctx, { body }) => createDiscountCode(ctx, body)),
  route(contract.deleteDiscountCode, (ctx, { params }) => deleteDiscountCode(ctx, params.idOrCode)),
]
