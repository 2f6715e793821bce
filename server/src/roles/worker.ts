import { startTestClosing } from '../features/analytics/jobs.ts'
import { startAuditRetention, startAuditSealing } from '../features/audit/jobs.ts'
import { startBulkOperations } from '../features/bulk-operations/jobs.ts'
import { commissionsJobs, startEngine, startMaturing, startSpendingRetention } from '../features/commissions/jobs.ts'
import { startDomainChecks, startDomainWatch } from '../features/domains/jobs.ts'
import { enrolmentsJobs, startForgettingApplications } from '../features/enrolments/jobs.ts'
import { eventStorageJobs } from '../features/event-storage/jobs.ts'
import { startClickDayClosing } from '../features/ingest/click-days.ts'
import { startIngest } from '../features/ingest/jobs.ts'
import { invitesJobs, startForgettingInvites } from '../features/invites/jobs.ts'
import { startLedgerFolding } from '../features/ledger/jobs.ts'
import { linksJobs, startLinkErasure, startTotalsFolding } from '../features/links/jobs.ts'
import { startLogRetention } from '../features/log/jobs.ts'
import { notificationsJobs, startNotifications } from '../features/notifications/jobs.ts'
import { startUpdateCheck } from '../features/operator/jobs.ts'
import { startPartnerAttributes } from '../features/partner-attributes/jobs.ts'
import { startActivityRetention } from '../features/partners/jobs.ts'
import { startSampleData } from '../features/sample-data/jobs.ts'
import { startExport, startOverdueMeter, trackJobs } from '../features/track/jobs.ts'
import { startDeliveries, startWebhookUpkeep, webhooksJobs } from '../features/webhooks/jobs.ts'
import { startErasure, startLostCount } from '../maintenance/jobs.ts'
import type { Platform } from '../platform/context.ts'
import { startLetterMeter } from '../platform/dead-letters.ts'
import { startKeyExpiry } from '../platform/idempotency.ts'
import { startBeats } from '../platform/incarnation.ts'
import { startJobs } from '../platform/jobs.ts'
import { startRelay } from '../platform/outbox.ts'
import { webhookEventJobs } from './webhooks.ts'

export async function start(platform: Platform): Promise<AsyncDisposable> {
  const parts = [
    await startIngest(platform),
    startClickDayClosing(platform),
    await startJobs(platform, [
      ...enrolmentsJobs,
      ...eventStorageJobs,
      ...linksJobs,
      ...trackJobs,
      ...commissionsJobs,
      ...webhooksJobs,
      ...invitesJobs,
      ...notificationsJobs,
      ...webhookEventJobs,
    ]),
    startAuditSealing(platform),
    startAuditRetention(platform),
    startDomainChecks(platform),
    startDomainWatch(platform),
    startNotifications(platform),
    startUpdateCheck(platform),
    startSampleData(platform),
    startTotalsFolding(platform),
    startLinkErasure(platform),
    startBulkOperations(platform),
    startForgettingApplications(platform),
    startForgettingInvites(platform),
    startKeyExpiry(platform),
    startLogRetention(platform),
    startTestClosing(platform),
    startExport(platform),
    startPartnerAttributes(platform),
    startEngine(platform),
    startMaturing(platform),
    startSpendingRetention(platform),
    startActivityRetention(platform),
    startLedgerFolding(platform),
    startBeats(platform),
    startLostCount(platform),
    startErasure(platform),
    startOverdueMeter(platform),
    startRelay(platform),
    startLetterMeter(platform),
    startDeliveries(platform),
    startWebhookUpkeep(platform),
  ]
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()))
    },
  }
}
