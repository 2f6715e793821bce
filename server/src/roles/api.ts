import { getRequestListener } from '@hono/node-server'
import { analyticsRoutes } from '../features/analytics/routes.ts'
import { auditRoutes } from '../features/audit/routes.ts'
import { auditLog } from '../features/audit/service.ts'
import { finishBackground } from '../features/auth/background.ts'
import { authRoutes } from '../features/auth/routes.ts'
import { findSession } from '../features/auth/service.ts'
import { welcomeFirstUser } from '../features/auth/sign-up.ts'
import { bulkOperationsRoutes } from '../features/bulk-operations/routes.ts'
import { commissionsRoutes } from '../features/commissions/routes.ts'
import { cancelUnpaid, mergePartnerMoney, restoreCanceled } from '../features/commissions/service.ts'
import { customerDataRoutes } from '../features/customer-data/routes.ts'
import { customersRoutes } from '../features/customers/routes.ts'
import { dashboardPages } from '../features/dashboard/routes.ts'
import { discountCodesRoutes } from '../features/discount-codes/routes.ts'
import { discountsRoutes } from '../features/discounts/routes.ts'
import { docsPages } from '../features/docs/routes.ts'
import { domainPages, domainsRoutes } from '../features/domains/routes.ts'
import { enrolmentsRoutes } from '../features/enrolments/routes.ts'
import { eventsRoutes } from '../features/events/routes.ts'
import { foldersRoutes } from '../features/folders/routes.ts'
import { groupsRoutes } from '../features/groups/routes.ts'
import { iconsRoutes } from '../features/icons/routes.ts'
import { installChecksRoutes } from '../features/install-checks/routes.ts'
import { invitesRoutes } from '../features/invites/routes.ts'
import { journeysRoutes } from '../features/journeys/routes.ts'
import { ledgerRoutes } from '../features/ledger/routes.ts'
import { linksRoutes } from '../features/links/routes.ts'
import { membersRoutes } from '../features/members/routes.ts'
import { memberAccess, memberContext } from '../features/members/service.ts'
import { metatagsRoutes } from '../features/metatags/routes.ts'
import { exchangeRates } from '../features/money/service.ts'
import { notesRoutes } from '../features/notes/routes.ts'
import { notificationsRoutes, unsubscribePages } from '../features/notifications/routes.ts'
import { operatorRoutes } from '../features/operator/routes.ts'
import { partnerTagsRoutes } from '../features/partner-tags/routes.ts'
import { preferencesRoutes } from '../features/preferences/routes.ts'
import { programsRoutes } from '../features/programs/routes.ts'
import { publicStatsRoutes } from '../features/public-stats/routes.ts'
import { qrRoutes } from '../features/qr/routes.ts'
import { qrDesignsRoutes } from '../features/qr-designs/routes.ts'
import { openRedirect, type Redirect } from '../features/redirect/service.ts'
import { rewardsRoutes } from '../features/rewards/routes.ts'
import { sampleDataRoutes } from '../features/sample-data/routes.ts'
import { setupStepsRoutes } from '../features/setup-steps/routes.ts'
import { sharesRoutes } from '../features/shares/routes.ts'
import { tagsRoutes } from '../features/tags/routes.ts'
import { tokensRoutes } from '../features/tokens/routes.ts'
import { contextReader } from '../features/tokens/service.ts'
import { trackPageRoutes, trackRoutes } from '../features/track/routes.ts'
import { trackerScripts } from '../features/tracker/routes.ts'
import { readTracker } from '../features/tracker/service.ts'
import { utmTemplatesRoutes } from '../features/utm-templates/routes.ts'
import { viewsRoutes } from '../features/views/routes.ts'
import { webhooksRoutes } from '../features/webhooks/routes.ts'
import { deleteWorkspace } from '../features/workspaces/delete.ts'
import { workspacesRoutes } from '../features/workspaces/routes.ts'
import type { Serving } from '../platform/callers.ts'
import type { Platform } from '../platform/context.ts'
import { type Route, serve } from '../platform/http.ts'
import { type Listening, listen, webServer } from '../platform/listen.ts'
import { opsListener } from '../platform/ops.ts'
import { startRelay } from '../platform/outbox.ts'
import { openRateLimiter } from '../platform/rate-limit.ts'
import { openStreams } from '../platform/streams.ts'
import { actorNames } from './actor-names.ts'
import { ledgerNames } from './ledger.ts'
import { peopleHooks } from './people.ts'
import { webhookScopes } from './webhooks.ts'
import { workspaceParts } from './workspaces.ts'

const moneyEffects = { cancelUnpaid, restoreCanceled, merge: mergePartnerMoney }

/** Binds every operation of the API contract to its handler. */
export function bindRoutes(platform: Platform, redirect: Redirect): Route[] {
  return [
    ...analyticsRoutes,
    ...auditRoutes(actorNames),
    ...customersRoutes,
    ...customerDataRoutes,
    ...journeysRoutes,
    ...domainsRoutes,
    ...domainPages(platform),
    ...eventsRoutes,
    ...foldersRoutes,
    ...linksRoutes,
    ...bulkOperationsRoutes,
    ...publicStatsRoutes(platform),
    ...metatagsRoutes,
    ...programsRoutes,
    ...groupsRoutes,
    ...partnerTagsRoutes,
    ...discountsRoutes,
    ...discountCodesRoutes,
    ...enrolmentsRoutes(platform, moneyEffects),
    ...rewardsRoutes,
    ...commissionsRoutes,
    ...ledgerRoutes(ledgerNames),
    ...tagsRoutes,
    ...tokensRoutes,
    ...trackRoutes,
    ...utmTemplatesRoutes,
    ...setupStepsRoutes,
    ...installChecksRoutes(platform),
    ...sampleDataRoutes({ deleteWorkspace }),
    ...preferencesRoutes,
    ...notificationsRoutes,
    ...operatorRoutes,
    ...viewsRoutes,
    ...notesRoutes,
    ...sharesRoutes(platform),
    ...webhooksRoutes(webhookScopes),
    ...workspacesRoutes(workspaceParts),
    ...membersRoutes,
    ...invitesRoutes,
    ...qrRoutes(platform.config),
    ...qrDesignsRoutes,
    ...iconsRoutes(platform.config),
    ...trackPageRoutes({ ...platform, redirect }),
  ]
}

/** Authenticates an API key or, without the header `Authorization`, the session of a signed-in user. */
export function openCallers(): Serving['openContext'] {
  const readKey = contextReader(memberAccess)
  return async (platform, credentials) => {
    if (credentials.authorization !== undefined) return readKey(platform, credentials)
    const session = await findSession(platform, credentials.cookie)
    return session ? memberContext(platform, session, credentials) : readKey(platform, credentials)
  }
}

export async function start(platform: Platform, stopping?: AbortSignal): Promise<Listening> {
  const { config } = platform
  exchangeRates(platform)
  await using parts = new AsyncDisposableStack()
  const streams = openStreams(platform)
  const serving = {
    platform,
    limiter: openRateLimiter(platform.valkey),
    openContext: openCallers(),
    recorder: auditLog,
    streams,
  }
  parts.defer(finishBackground)
  const redirect = parts.use(await openRedirect(platform))
  const app = serve(bindRoutes(platform, redirect), serving)
  app.route('/', authRoutes(platform, serving.limiter, peopleHooks))
  app.route('/', unsubscribePages(platform, serving.limiter))
  app.route('/', docsPages(config))
  app.route('/', dashboardPages())
  app.route('/', trackerScripts(await readTracker()))
  const listener = opsListener(platform, getRequestListener(app.fetch), stopping)
  const server = webServer(config, listener, { maxHeaderSize: config.API_HEADER_BYTES, stopping })
  // Relay the outbox here too, so that changes reach the redirects within a second while no worker runs.
  parts.use(startRelay(platform))
  const { port } = parts.use(await listen(server, config.HOST, config.API_PORT, config.SHUTDOWN_GRACE_MS))
  // Registered last, so that event streams end before the server closes, which would wait for them.
  parts.use(streams)
  await welcomeFirstUser(platform, peopleHooks)
  const opened = parts.move()
  return { port, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}
