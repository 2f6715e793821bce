import * as contract from '@tributary/contract/audit'
import { route } from '../../platform/http.ts'
import { exportEntries, listEntries } from './list.ts'

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/x-ndjson' }
const unbuffered = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', 'X-Content-Type-Options': 'nosniff' }

export const auditRoutes = [
  route(contract.listAuditLog, async (ctx, { query }, { setHeader }) => {
    const { entries, next } = await listEntries(ctx, query)
    if (next) setHeader('X-Next-Cursor', next)
    return entries
  }),
  route(contract.exportAuditLog, async (ctx, { query }) => {
    const name = `audit-log-${ctx.now().toISOString().slice(0, 10)}.${query.format}`
    return {
      headers: {
        ...unbuffered,
        'Content-Type': types[query.format],
        'Content-Disposition': `attachment; filename="${name}"`,
      },
      chunks: exportEntries(ctx, query),
    }
  }),
]
