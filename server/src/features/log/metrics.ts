import { declareMetrics, readGauge } from '../../platform/metrics.ts'

export const logMetrics = declareMetrics(({ counter, gauge }, { reports }) => {
  const bytes = gauge('tributary_log_bytes', 'Size of an event log stream.', ['stream'])
  const limit = gauge('tributary_log_limit_bytes', 'Maximum size of an event log stream.', ['stream'])
  reports.set('streams', async () => {
    const [sizes, limits] = await Promise.all([readGauge(bytes, 'stream'), readGauge(limit, 'stream')])
    const states = [...sizes].map(([name, size]) => [name, { bytes: size, limitBytes: limits.get(name) ?? 0 }])
    return Object.fromEntries(states)
  })
  return {
    bytes,
    limit,
    purged: counter(
      'tributary_log_purged_messages_total',
      'Event log messages purged early because their stream was above its watermark.',
      ['stream'],
    ),
  }
})
