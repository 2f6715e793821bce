import { declareMetrics } from '../../platform/metrics.ts'

export const redirectMetrics = declareMetrics(({ counter, gauge, histogram, tally }) => ({
  redirects: tally('tributary_redirects_total', 'Responses to short-link requests.', 'status'),
  redirectSeconds: histogram('tributary_redirect_seconds', 'Response time of short-link requests in this process.'),
  linkLookups: tally('tributary_link_lookups_total', 'Link lookups by cache level.', 'from'),
  captureSeconds: histogram('tributary_capture_seconds', 'Time until a batch of clicks was stored.', ['outcome']),
  clicksLost: counter('tributary_clicks_lost_total', 'Clicks that neither the event log nor the spool accepted.'),
  clicksNotLogged: tally(
    'tributary_clicks_not_logged_total',
    'Visits that were answered and not logged: repeats of a stored click, or above the click limit of a client address.',
    'reason',
  ),
  spoolMessages: gauge('tributary_spool_messages', 'Click batches in the spool.'),
  spoolAge: gauge('tributary_spool_oldest_seconds', 'Age of the oldest click batch in the spool.'),
  spoolBytes: gauge('tributary_spool_bytes', 'Size of the click spool.'),
  spoolLimit: gauge('tributary_spool_limit_bytes', 'Maximum size of the click spool.'),
}))
