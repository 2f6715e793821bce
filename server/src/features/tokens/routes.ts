import * as contract from '@tributary/contract/tokens'
import { route } from '../../platform/http.ts'
import { createKey, getKey, listKeys, revokeKey, rotateKey, updateKey } from './manage.ts'

export const tokensRoutes = [
  route(contract.listTokens, (ctx, { query }) => listKeys(ctx, query)),
  route(contract.createToken, (ctx, { body }) => createKey(ctx, body)),
  route(contract.getToken, (ctx, { params }) => getKey(ctx, params.id)),
  route(contract.updateToken, (ctx, { params, body }) => updateKey(ctx, params.id, body)),
  route(contract.rotateToken, (ctx, { params, body }) => rotateKey(ctx, params.id, body)),
  route(contract.revokeToken, (ctx, { params }) => revokeKey(ctx, params.id)),
]
