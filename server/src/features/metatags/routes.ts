import * as contract from '@tributary/contract/metatags'
import { route } from '../../platform/http.ts'
import { getMetatags, getPreviewImage } from './service.ts'

export const metatagsRoutes = [
  route(contract.getMetatags, (ctx, { query }) => getMetatags(ctx, query.url)),
  route(contract.getPreviewImage, (ctx, { query }) => getPreviewImage(ctx, query.url)),
]
