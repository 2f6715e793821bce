import { declareMetrics, readGauge } from '../../platform/metrics.ts'

export const ingestMetrics = declareMetrics(({ counter, gauge }, { reports }) => {
  const lag = gauge('tributary_ingest_lag_messages', 'Messages of a partition that are not yet stored.', ['partition'])
  const lagSeconds = gauge(
    'tributary_ingest_lag_seconds',
    'How long the oldest message of a partition that is not yet stored has waited in the log.',
    ['partition'],
  )
  const owned = gauge(
    'tributary_ingest_owned',
    '1 for a partition that this worker reads, 0 for one of another worker or of none.',
    ['partition'],
  )
  reports.set('partitions', async () => {
    const [messages, seconds, owners] = await Promise.all([
      readGauge(lag, 'partition'),
      readGauge(lagSeconds, 'partition'),
      readGauge(owned, 'partition'),
    ])
    const states = [...messages].map(([partition, lagMessages]) => {
      return [partition, { lagMessages, lagSeconds: seconds.get(partition) ?? 0, owned: owners.get(partition) === 1 }]
    })
    return Object.fromEntries(states)
  })
  return {
    lag,
    lagSeconds,
    owned,
    ingested: counter('tributary_ingested_events_total', 'Events by what became of them.', ['outcome', 'reason']),
    logRewinds: counter(
      'tributary_log_rewinds_total',
      'How often a partition of the event log was found older than the cursor, or created again.',
      ['partition'],
    ),
    logLostMessages: counter(
      'tributary_log_lost_messages_total',
      'Messages of a partition that the log lost before they were stored; a message holds one or more clicks.',
      ['partition'],
    ),
  }
})
