import { declareMetrics, readGauge } from '../../platform/metrics.ts'

export const logMetrics = declareMetrics(({ counter, gauge }, { reports }) => {
  const bytes = gauge('tributary_log_bytes', 'Size of a stream of the log.', ['stream'])
  const limit = gauge('tributary_log_limit_bytes', 'Size at which a stream of the log takes no more.', ['stream'])
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
      'Stored messages that were deleted early because their stream was above its watermark.',
      ['stream'],
    ),
  }
})
