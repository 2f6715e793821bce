import { declareMetrics } from '../../platform/metrics.ts'

export const webhookMetrics = declareMetrics(({ counter, gauge, histogram }) => ({
  attempts: counter('tributary_webhook_attempts_total', 'Webhook calls by result.', ['outcome']),
  callSeconds: histogram('tributary_webhook_seconds', 'Duration of webhook calls.', ['outcome'], [15]),
  pending: gauge(
    'tributary_webhook_pending',
    'Due deliveries of enabled webhooks whose call has not begun, counted up to 100,000.',
  ),
  eventsDropped: counter(
    'tributary_webhook_events_dropped_total',
    "Events dropped because the workspace's receivers are too far behind.",
  ),
  disabled: counter('tributary_webhooks_disabled_total', "Webhooks disabled because of their receiver's responses.", [
    'reason',
  ]),
}))
