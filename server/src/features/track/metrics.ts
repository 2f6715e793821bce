import { declareMetrics } from '../../platform/metrics.ts'

export const trackMetrics = declareMetrics(({ gauge }) => ({
  overdue: gauge(
    'tributary_conversions_overdue_seconds',
    'Seconds since the oldest lead or sale that is not yet exported was due.',
  ),
}))
