import { declareMetrics } from '../../platform/metrics.ts'

export const redirectMetrics = declareMetrics(({ counter, gauge, histogram, tally }) => ({
  redirects: tally('tributary_redirects_total', 'Responses of the redirect.', 'status'),
  redirectSeconds: histogram('tributary_redirect_seconds', 'How long visitors of short links waited for this process.'),
  linkLookups: tally('tributary_link_lookups_total', 'Link lookups by source.', 'from'),
  captureSeconds: histogram('tributary_capture_seconds', 'Time until a batch of clicks was acknowledged.', ['outcome']),
  clicksLost: counter('tributary_clicks_lost_total', 'Clicks that neither the log nor the spool accepted.'),
  clicksNotLogged: tally(
    'tributary_clicks_not_logged_total',
    'Visits that were answered and not logged: repeats of a stored click, or above the click limit of a client address.',
    'reason',
  ),
  spoolMessages: gauge('tributary_spool_messages', 'Batches in the spool.'),
  spoolAge: gauge('tributary_spool_oldest_seconds', 'Age of the oldest batch in the spool.'),
  spoolBytes: gauge('tributary_spool_bytes', 'Size of the spool.'),
  spoolLimit: gauge('tributary_spool_limit_bytes', 'Maximum size of the spool.'),
}))
