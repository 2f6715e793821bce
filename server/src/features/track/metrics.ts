import { declareMetrics } from '../../platform/metrics.ts'

export const trackMetrics = declareMetrics(({ gauge }) => ({
  overdue: gauge(
    'tributary_conversions_overdue_seconds',
    'How long ago the first lead or sale that is not yet stored for reading was due.',
  ),
}))
