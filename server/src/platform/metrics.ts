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
    redirectSeconds: new Histogram({
      name: 'tributary_redirect_seconds',
      help: 'How long visitors of short links waited for this process.',
      buckets: seconds,
      registers,
    }),
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
    clicksNotLogged: tally(
      registry,
      'tributary_clicks_not_logged_total',
      'Visits that were answered and not logged: repeats of a stored click, or above the limit of an address.',
      'reason',
    ),
    spoolMessages: new Gauge({ name: 'tributary_spool_messages', help: 'Batches in the spool.', registers }),
    spoolAge: new Gauge({
      name: 'tributary_spool_oldest_seconds',
      help: 'Age of the oldest batch in the spool.',
      registers,
    }),
    spoolBytes: new Gauge({ name: 'tributary_spool_bytes', help: 'Size of the spool.', registers }),
    spoolLimit: new Gauge({
      name: 'tributary_spool_limit_bytes',
      help: 'Size at which the spool takes no more.',
      registers,
    }),
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
    logRewinds: new Counter({
      name: 'tributary_log_rewinds_total',
      help: 'How often a partition of the event log was found older than the cursor, or created again.',
      labelNames: ['partition'],
      registers,
    }),
    logBytes: new Gauge({
      name: 'tributary_log_bytes',
      help: 'Size of a stream of the log.',
      labelNames: ['stream'],
      registers,
    }),
    logLimit: new Gauge({
      name: 'tributary_log_limit_bytes',
      help: 'Size at which a stream of the log takes no more.',
      labelNames: ['stream'],
      registers,
    }),
    diskFree: new Gauge({
      name: 'tributary_disk_free_ratio',
      help: 'Free share of a disk, from 0 to 1.',
      labelNames: ['disk'],
      registers,
    }),
    logPurged: new Counter({
      name: 'tributary_log_purged_messages_total',
      help: 'Stored messages that were deleted early because their stream was above its watermark.',
      labelNames: ['stream'],
      registers,
    }),
    logLostMessages: new Counter({
      name: 'tributary_log_lost_messages_total',
      help: 'Messages of a partition that the log lost before they were stored; a message holds one or more clicks.',
      labelNames: ['partition'],
      registers,
    }),
    engineRewound: new Gauge({
      name: 'tributary_engine_rewound_timestamp_seconds',
      help: 'When an engine was last found to have come back in an older state than the others know of.',
      labelNames: ['engine'],
      registers,
    }),
    lostRecords: new Gauge({
      name: 'tributary_lost_records',
      help: 'Records that ClickHouse knows and PostgreSQL lost when it last went back.',
      labelNames: ['kind'],
      registers,
    }),
    jobs: new Counter({
      name: 'tributary_jobs_total',
      help: 'Messages handled by jobs.',
      labelNames: ['job', 'outcome'],
      registers,
    }),
    conversionsOverdue: new Gauge({
      name: 'tributary_conversions_overdue_seconds',
      help: 'How long ago the first lead or sale that is not yet stored for reading was due.',
      registers,
    }),
    deadLetters: new Gauge({
      name: 'tributary_dead_letters',
      help: 'Events and messages that were refused or given up and wait for an operator, by kind.',
      labelNames: ['kind'],
      registers,
    }),
    relayed: new Counter({ name: 'tributary_outbox_relayed_total', help: 'Outbox rows published.', registers }),
    outboxMessages: new Gauge({
      name: 'tributary_outbox_messages',
      help: 'Committed messages that are not yet in the log; counted up to 100,000.',
      registers,
    }),
    outboxAge: new Gauge({
      name: 'tributary_outbox_oldest_seconds',
      help: 'Age of the oldest committed message that is not yet in the log.',
      registers,
    }),
    engineUp: new Gauge({
      name: 'tributary_engine_up',
      help: '1 for an engine that answers this process within a second, else 0.',
      labelNames: ['engine'],
      registers,
    }),
    querySeconds: new Histogram({
      name: 'tributary_query_seconds',
      help: 'Duration of statements as this process waited for them.',
      labelNames: ['engine', 'statement', 'outcome'],
      buckets: seconds,
      registers,
    }),
    spans: new Counter({
      name: 'tributary_spans_total',
      help: 'Spans of traces that were sent to the collector, or dropped because it took none.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'tributary_webhook_attempts_total',
      help: 'Calls of webhooks by how they ended.',
      labelNames: ['outcome'],
      registers,
    }),
    webhookSeconds: new Histogram({
      name: 'tributary_webhook_seconds',
      help: 'Duration of calls of webhooks.',
      labelNames: ['outcome'],
      buckets: [...seconds, 15],
      registers,
    }),
    webhookPending: new Gauge({
      name: 'tributary_webhook_pending',
      help: 'Deliveries of enabled webhooks that are due, and whose call has not begun; counted up to 100,000.',
      registers,
    }),
    webhookEventsDropped: new Counter({
      name: 'tributary_webhook_events_dropped_total',
      help: 'Events that no webhook gets, because the receivers of the workspace are too far behind.',
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'tributary_webhooks_disabled_total',
      help: 'Webhooks that were disabled because of how their receiver answered.',
      labelNames: ['reason'],
      registers,
    }),
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
