import * as contract from '@tributary/contract/commissions'
import { route } from '../../platform/http.ts'
import { createCommission } from './create.ts'
import { explainCommission, explainEvent } from './explain.ts'
import { getCommission, listCommissions } from './list.ts'
import { bulkUpdateCommissions, updateCommission } from './update.ts'

export const commissionsRoutes = [
  route(contract.listCommissions, (ctx, { query }) => listCommissions(ctx, query)),
  route(contract.createCommission, (ctx, { body }) => createCommission(ctx, body)),
  // Before the operations with an id, whose paths would match these, too.
  route(contract.explainEvent, (ctx, { query }) => explainEvent(ctx, query)),
  route(contract.bulkUpdateCommissions, (ctx, { body }) => bulkUpdateCommissions(ctx, body)),
  route(contract.getCommission, (ctx, { params }) => getCommission(ctx, params.id)),
  route(contract.explainCommission, (ctx, { params }) => explainCommission(ctx, params.id)),
  route(contract.updateCommission, (ctx, { params, body }) => updateCommission(ctx, params.id, body)),
]
