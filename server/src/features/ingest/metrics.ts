import { declareMetrics, readGauge } from '../../platform/metrics.ts'

export const ingestMetrics = declareMetrics(({ counter, gauge }, { reports }) => {
  const lag = gauge('tributary_ingest_lag_messages', 'Event log messages that are not stored yet.', ['partition'])
  const lagSeconds = gauge(
    'tributary_ingest_lag_seconds',
    "How long a partition's oldest unstored message has waited in the event log.",
    ['partition'],
  )
  const owned = gauge('tributary_ingest_owned', '1 for a partition of the event log that this worker owns, else 0.', [
    'partition',
  ])
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
    ingested: counter('tributary_ingested_events_total', 'Logged clicks by outcome.', ['outcome', 'reason']),
    logRewinds: counter(
      'tributary_log_rewinds_total',
      'How often a partition of the event log was restored to an older state or recreated.',
      ['partition'],
    ),
    logLostMessages: counter(
      'tributary_log_lost_messages_total',
      'Messages that a partition of the event log lost before they were stored; a message contains one or more clicks.',
      ['partition'],
    ),
  }
})
