import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Platform } from '../../platform/context.ts'
import { startInterval } from '../../platform/schedule.ts'
import { deleteBeat, type Figure, pruneBeats, upsertBeat } from './beats-store.ts'
import { readVersion } from './version.ts'

const intervalMs = 15_000
const retentionMs = 24 * 3_600_000
const longestHost = 255
const mostFigures = 500

/** The metrics that the state of the installation is made of. */
const reported = [
  'tributary_ingest_lag_messages',
  'tributary_ingest_lag_seconds',
  'tributary_spool_messages',
  'tributary_spool_oldest_seconds',
  'tributary_conversions_overdue_seconds',
  'tributary_outbox_messages',
  'tributary_outbox_oldest_seconds',
  'tributary_webhook_pending',
  'tributary_webhook_events_dropped_total',
  'tributary_disk_free_ratio',
  'tributary_log_bytes',
  'tributary_log_limit_bytes',
  'tributary_dead_letters',
  'tributary_clicks_lost_total',
  'tributary_lost_records',
]

/**
 * Reports in PostgreSQL that this process runs, with some of its metrics. While PostgreSQL is down, nothing is reported:
 * the health check logs it.
 */
export function startBeat(platform: Platform): AsyncDisposable {
  const { db, config, now } = platform
  const id = randomUUID()
  const process = {
    ...{ id, role: config.ROLES.join('+'), host: hostname().slice(0, longestHost), version: readVersion() },
    started_at: now(),
  }
  const beating = startInterval(platform, 'process beat', intervalMs, async () => {
    const figures = await readFigures(platform)
    await upsertBeat(db, { ...process, figures, seen_at: now() }).catch(() => {})
    await pruneBeats(db, new Date(now().getTime() - retentionMs)).catch(() => {})
  })
  return {
    async [Symbol.asyncDispose]() {
      await beating[Symbol.asyncDispose]()
      await deleteBeat(db, id).catch(() => {})
    },
  }
}

async function readFigures({ metrics }: Pick<Platform, 'metrics'>): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const name of reported) {
    const metric = metrics.registry.getSingleMetric(name)
    for (const { labels, value } of (await metric?.get())?.values ?? []) {
      const [label = ''] = Object.values(labels)
      figures.push([name, String(label), value])
    }
  }
  return figures.slice(0, mostFigures)
}
