import * as contract from '@tributary/contract/ledger'
import { route } from '../../platform/http.ts'
import type { LedgerNames } from './names.ts'
import { exportLedger, getBalances, listPostings } from './service.ts'

const types = { csv: 'text/csv; charset=utf-8; header=present', json: 'application/x-ndjson', beancount: 'text/plain' }
const unbuffered = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', 'X-Content-Type-Options': 'nosniff' }

export const ledgerRoutes = (names: LedgerNames) => [
  route(contract.listPostings, async (ctx, { query }, { setHeader }) => {
    const { postings, next } = await listPostings(ctx, names, query)
    if (next) setHeader('X-Next-Cursor', next)
    return postings
  }),
  route(contract.getBalances, async (ctx, { query }) => ({ balances: await getBalances(ctx, names, query.partnerId) })),
  route(contract.exportLedger, async (ctx, { query }) => {
    const name = `ledger-${ctx.now().toISOString().slice(0, 10)}.${query.format}`
    return {
      headers: {
        ...unbuffered,
        'Content-Type': types[query.format],
        'Content-Disposition': `attachment; filename="${name}"`,
      },
      chunks: await exportLedger(ctx, names, query),
    }
  }),
]
