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
    redirects: new Counter({
      name: 'tributary_redirects_total',
      help: 'Answers of the redirect.',
      labelNames: ['status'],
      registers,
    }),
    linkLookups: new Counter({
      name: 'tributary_link_lookups_total',
      help: 'Where links were found.',
      labelNames: ['from'],
      registers,
    }),
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
    jobs: new Counter({
      name: 'tributary_jobs_total',
      help: 'Messages handled by jobs.',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    relayed: new Counter({ name: 'tributary_outbox_relayed_total', help: 'Outbox rows published.', registers }),
  }
}
