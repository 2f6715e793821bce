import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { memoByObject } from './memo.ts'

export type Metrics = ReturnType<typeof openMetrics>
type Figures = ReturnType<typeof openFigures>

const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Opens the metrics of the platform. Features declare their own in metrics.ts. */
export function openMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'tributary_' })
  const figures = openFigures(registry)
  const { counter, gauge, histogram } = figures
  return {
    registry,
    figures,
    /** Additional entries of `/readyz`, by name. */
    reports: new Map<string, () => Promise<object>>(),
    requests: histogram('tributary_request_seconds', 'Duration of API requests.', ['operation', 'status']),
    limited: counter('tributary_rate_limited_total', 'Requests refused by a rate limit.', ['plan', 'limit']),
    openStreams: gauge('tributary_open_streams', 'HTTP responses being streamed: event streams and exports.', [
      'operation',
    ]),
    diskFree: gauge('tributary_disk_free_ratio', 'Free fraction of a disk, from 0 to 1.', ['disk']),
    engineRewound: gauge(
      'tributary_engine_rewound_timestamp_seconds',
      'Time of the last detected restore of PostgreSQL or NATS to an older state.',
      ['engine'],
    ),
    lostRecords: gauge(
      'tributary_lost_records',
      'Records that PostgreSQL lost when it was restored to an older state and ClickHouse still has.',
      ['kind'],
    ),
    jobs: counter('tributary_jobs_total', 'Messages handled by jobs.', ['job', 'outcome']),
    deadLetters: gauge(
      'tributary_dead_letters',
      'Events and messages that were refused or exhausted their retries and wait for an operator, by kind.',
      ['kind'],
    ),
    relayed: counter('tributary_outbox_relayed_total', 'Outbox rows published.'),
    outboxMessages: gauge(
      'tributary_outbox_messages',
      'Committed outbox messages that are not yet in NATS; counted up to 100,000.',
    ),
    outboxAge: gauge(
      'tributary_outbox_oldest_seconds',
      'Age of the oldest committed outbox message that is not yet in NATS.',
    ),
    engineUp: gauge('tributary_engine_up', '1 if this database or NATS responds within a second, else 0.', ['engine']),
    querySeconds: histogram(
      'tributary_query_seconds',
      'Duration of PostgreSQL and ClickHouse statements, measured in this process.',
      ['engine', 'statement', 'outcome'],
    ),
    spans: counter(
      'tributary_spans_total',
      'Trace spans that were sent to the collector, or dropped because it was unreachable.',
      ['outcome'],
    ),
  }
}

/** Declares metrics of a feature. They start at 0, because Prometheus misses the first increment of a new counter. */
export function declareMetrics<M>(make: (figures: Figures, metrics: Metrics) => M) {
  const open = memoByObject((metrics: Metrics) => make(metrics.figures, metrics))
  return (platform: { metrics: Metrics }): M => open(platform.metrics)
}

/** Reads a gauge's values, by one label. */
export async function readGauge<L extends string>(gauge: Gauge<L>, label: L): Promise<Map<string, number>> {
  const { values } = await gauge.get()
  return new Map(values.map(({ labels, value }) => [String(labels[label]), value]))
}

function openFigures(registry: Registry) {
  const registers = [registry]
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string = never>(name: string, help: string, labelNames: L[] = [], longest: number[] = []) =>
      new Histogram({ name, help, labelNames, buckets: [...seconds, ...longest], registers }),
    /** A counter for hot paths: it sets labels only when Prometheus scrapes. */
    tally(name: string, help: string, label: string) {
      const counts = new Map<string | number, number>()
      const counter = new Counter({
        name,
        help,
        labelNames: [label],
        registers,
        collect() {
          for (const [value, count] of counts) this.inc({ [label]: value }, count)
          counts.clear()
        },
      })
      const count = (value: string | number) => void counts.set(value, (counts.get(value) ?? 0) + 1)
      return Object.assign(counter, { count })
    },
  }
}
