import * as contract from '@tributary/contract/audit'
import { type Route, route } from '../../platform/http.ts'
import { type ActorNames, exportEntries, listEntries } from './list.ts'

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/x-ndjson' }
const unbuffered = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', 'X-Content-Type-Options': 'nosniff' }

export function auditRoutes(actorNames: ActorNames): Route[] {
  return [
    route(contract.listAuditLog, async (ctx, { query }, { setHeader }) => {
      const { entries, next } = await listEntries({ ...ctx, actorNames }, query)
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
        chunks: exportEntries({ ...ctx, actorNames }, query),
      }
    }),
  ]
}
