import * as contract from '@tributary/contract/customers'
import { route } from '../../platform/http.ts'
import {
  countCustomers,
  createCustomer,
  deleteCustomer,
  getCustomer,
  listCustomers,
  updateCustomer,
} from './service.ts'

export const customersRoutes = [
  route(contract.listCustomers, (ctx, { query }) => listCustomers(ctx, query)),
  route(contract.countCustomers, (ctx, { query }) => countCustomers(ctx, query)),
  route(contract.createCustomer, (ctx, { body }) => createCustomer(ctx, body), undefined, { isGrouped: true }),
  route(contract.getCustomer, (ctx, { params, query }) => getCustomer(ctx, params.id, query)),
  route(contract.updateCustomer, (ctx, { params, query, body }) => updateCustomer(ctx, params.id, body, query)),
  route(contract.deleteCustomer, (ctx, { params }) => deleteCustomer(ctx, params.id)),
]
