import * as contract from '@tributary/contract/customer-data'
import { route } from '../../platform/http.ts'
import { getErasure } from './erasure.ts'
import { exportCustomer } from './service.ts'

const unbuffered = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', 'X-Content-Type-Options': 'nosniff' }

export const customerDataRoutes = [
  route(contract.exportCustomer, async (ctx, { params }) => {
    const { id, chunks } = await exportCustomer(ctx, params.id)
    return {
      headers: {
        ...unbuffered,
        'Content-Type': 'application/json',
        'Content-Disposition': `attachment; filename="${id}.json"`,
      },
      chunks,
    }
  }),
  route(contract.getCustomerErasure, (ctx, { params }) => getErasure(ctx, params.id)),
]
