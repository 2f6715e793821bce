import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof openMetrics>

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Every figure of the process in one place, so that names stay consistent. */
export function openMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix: 'tributary_' })
  return {
    registry,
    requests: new Histogram({
      name: 'tributary_request_seconds',
      help: 'Duration of API requests.',
      labelNames: ['operation', 'status'],
      buckets: seconds,
      registers,
    }),
    limited: new Counter({
      name: 'tributary_rate_limited_total',
      help: 'Requests refused by the rate limit.',
      labelNames: ['plan', 'limit'],
      registers,
    }),
    openStreams: new Gauge({
      name: 'tributary_open_streams',
      help: 'Streams and exports that are being sent.',
      labelNames: ['operation'],
      registers,
    }),
    redirects: tally(registry, 'tributary_redirects_total', 'Answers of the redirect.', 'status'),
    linkLookups: tally(registry, 'tributary_link_lookups_total', 'Where links were found.', 'from'),
    captureSeconds: new Histogram({
      name: 'tributary_capture_seconds',
      help: 'Time until a batch of clicks was acknowledged.',
      labelNames: ['outcome'],
      buckets: seconds,
      registers,
    }),
    clicksLost: new Counter({
      name: 'tributary_clicks_lost_total',
      help: 'Clicks that neither the log nor the spool took.',
      registers,
    }),
    spoolMessages: new Gauge({ name: 'tributary_spool_messages', help: 'Batches in the spool.', registers }),
    spoolAge: new Gauge({
      name: 'tributary_spool_oldest_seconds',
      help: 'Age of the oldest batch in the spool.',
      registers,
    }),
    spoolBytes: new Gauge({ name: 'tributary_spool_bytes', help: 'Size of the spool.', registers }),
    ingested: new Counter({
      name: 'tributary_ingested_events_total',
      help: 'Events by what became of them.',
      labelNames: ['outcome', 'reason'],
      registers,
    }),
    ingestLag: new Gauge({
      name: 'tributary_ingest_lag_messages',
      help: 'Messages of a partition that are not yet stored.',
      labelNames: ['partition'],
      registers,
    }),
    ingestLagSeconds: new Gauge({
      name: 'tributary_ingest_lag_seconds',
      help: 'How long the oldest message of a partition that is not yet stored has waited in the log.',
      labelNames: ['partition'],
      registers,
    }),
    ingestOwned: new Gauge({
      name: 'tributary_ingest_owned',
      help: '1 for a partition that this worker reads, 0 for one of another worker or of none.',
      labelNames: ['partition'],
      registers,
    }),
    jobs: new Counter({
      name: 'tributary_jobs_total',
      help: 'Messages handled by jobs.',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    relayed: new Counter({ name: 'tributary_outbox_relayed_total', help: 'Outbox rows published.', registers }),
  }
}

/** A counter for the hot path: labels are put together only when somebody reads it. */
function tally(registry: Registry, name: string, help: string, label: string) {
  const counts = new Map<string | number, number>()
  const counter = new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      for (const [value, count] of counts) this.inc({ [label]: value }, count)
      counts.clear()
    },
  })
  const count = (value: string | number) => void counts.set(value, (counts.get(value) ?? 0) + 1)
  return Object.assign(counter, { count })
}
