import * as contract from '@tributary/contract/bulk-operations'
import { route } from '../../platform/http.ts'
import {
  cancelBulkOperation,
  createBulkOperation,
  getBulkOperation,
  listBulkOperations,
  undoBulkOperation,
} from './service.ts'

export const bulkOperationsRoutes = [
  route(contract.createBulkOperation, async (ctx, { body }, { markDryRun }) => {
    if (body.dryRun) markDryRun()
    return createBulkOperation(ctx, body)
  }),
  route(contract.listBulkOperations, (ctx, { query }) => listBulkOperations(ctx, query)),
  route(contract.getBulkOperation, (ctx, { params }) => getBulkOperation(ctx, params.id)),
  route(contract.cancelBulkOperation, (ctx, { params }) => cancelBulkOperation(ctx, params.id)),
  route(contract.undoBulkOperation, (ctx, { params }) => undoBulkOperation(ctx, params.id)),
]
