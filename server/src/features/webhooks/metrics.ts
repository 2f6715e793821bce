import { declareMetrics } from '../../platform/metrics.ts'

export const webhookMetrics = declareMetrics(({ counter, gauge, histogram }) => ({
  attempts: counter('tributary_webhook_attempts_total', 'Calls of webhooks by how they ended.', ['outcome']),
  callSeconds: histogram('tributary_webhook_seconds', 'Duration of calls of webhooks.', ['outcome'], [15]),
  pending: gauge(
    'tributary_webhook_pending',
    'Deliveries of enabled webhooks that are due, and whose call has not begun; counted up to 100,000.',
  ),
  eventsDropped: counter(
    'tributary_webhook_events_dropped_total',
    'Events that no webhook gets, because the receivers of the workspace are too far behind.',
  ),
  disabled: counter(
    'tributary_webhooks_disabled_total',
    'Webhooks that were disabled because of how their receiver answered.',
    ['reason'],
  ),
}))
