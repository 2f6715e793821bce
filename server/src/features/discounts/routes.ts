import * as contract from '@tributary/contract/discounts'
import { route } from '../../platform/http.ts'
import { createDiscount, deleteDiscount, getDiscount, listDiscounts, updateDiscount } from './service.ts'

export const discountsRoutes = [
  route(contract.listDiscounts, (ctx, { query }) => listDiscounts(ctx, query)),
  route(contract.getDiscount, (ctx, { params }) => getDiscount(ctx, params.id)),
  route(contract.createDiscount, (ctx, { body }) => createDiscount(ctx, body)),
  route(contract.updateDiscount, (ctx, { params, body }) => updateDiscount(ctx, params.id, body)),
  route(contract.deleteDiscount, (ctx, { params }) => deleteDiscount(ctx, params.id)),
]
