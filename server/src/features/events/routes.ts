import * as contract from '@tributary/contract/events'
import { route } from '../../platform/http.ts'
import { withParameters } from '../../platform/query-string.ts'
import { exportEvents, listEvents, streamEvents } from './service.ts'

const types = { csv: 'text/csv; charset=utf-8; header=present', ndjson: 'application/x-ndjson' }
// Headers of an event stream: a buffering proxy would delay events.
const unbuffered = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no', 'X-Content-Type-Options': 'nosniff' }

export const eventsRoutes = [
  route(contract.listEvents, async (ctx, { query }, { url, setHeader }) => {
    const { events, next, isFull } = await listEvents(ctx, query)
    if (next) setHeader('X-Next-Cursor', next)
    if (next && isFull) {
      setHeader('Link', `<${withParameters(url.href, { page: null, cursor: next })}>; rel="next"`)
    }
    return events
  }),
  route(contract.streamEvents, async (ctx, { query }, { header, signal }) => ({
    headers: { ...unbuffered, 'Content-Type': 'text/event-stream; charset=utf-8' },
    chunks: await streamEvents(ctx, query, header('last-event-id'), signal),
  })),
  route(contract.exportEvents, async (ctx, { query }) => {
    const name = `${query.event}-${ctx.now().toISOString().slice(0, 10)}.${query.format}`
    return {
      headers: {
        ...unbuffered,
        'Content-Type': types[query.format],
        'Content-Disposition': `attachment; filename="${name}"`,
      },
      chunks: await exportEvents(ctx, query),
    }
  }),
]
