import { commissionWebhooks } from '../features/commissions/webhooks.ts'
import { customerErasure } from '../features/customers/webhooks.ts'
import { discountCodeWebhooks } from '../features/discount-codes/webhooks.ts'
import { partnerUpdateWebhooks, partnerWebhooks } from '../features/enrolments/webhooks.ts'
import { knownFolderIds } from '../features/folders/service.ts'
import { clickWebhooks } from '../features/ingest/webhooks.ts'
import { assignWebhook } from '../features/links/service.ts'
import { linkWebhooks } from '../features/links/webhooks.ts'
import { clickFactsRelease, conversionWebhooks } from '../features/track/webhooks.ts'
import { erasureJob, releaseJob, sourceJob } from '../features/webhooks/jobs.ts'

/** The jobs that turn changes of links, clicks, leads, sales, partners, commissions and codes into webhook events. */
export const webhookEventJobs = [
  sourceJob(linkWebhooks),
  sourceJob(clickWebhooks),
  ...conversionWebhooks.map(sourceJob),
  sourceJob(partnerWebhooks),
  sourceJob(partnerUpdateWebhooks),
  sourceJob(commissionWebhooks),
  sourceJob(discountCodeWebhooks),
  releaseJob(clickFactsRelease),
  erasureJob(customerErasure),
]

export const webhookScopes = { knownFolderIds, assignWebhook }
