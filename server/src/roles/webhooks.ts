import { customerErasure } from '../features/customers/webhooks.ts'
import { knownFolderIds } from '../features/folders/service.ts'
import { clickWebhooks } from '../features/ingest/webhooks.ts'
import { assignWebhook } from '../features/links/service.ts'
import { linkWebhooks } from '../features/links/webhooks.ts'
import { clickFactsRelease, conversionWebhooks } from '../features/track/webhooks.ts'
import { erasureJob, releaseJob, sourceJob } from '../features/webhooks/jobs.ts'

/** The jobs that turn changes of links, clicks, leads and sales into webhook events. */
export const webhookEventJobs = [
  sourceJob(linkWebhooks),
  sourceJob(clickWebhooks),
  ...conversionWebhooks.map(sourceJob),
  releaseJob(clickFactsRelease),
  erasureJob(customerErasure),
]

export const webhookScopes = { knownFolderIds, assignWebhook }
