import { createRouter } from '@tanstack/react-router'
import { accountRoutes } from '../features/account/routes.ts'
import { analyticsRoutes } from '../features/analytics/routes.ts'
import { auditRoutes } from '../features/audit/routes.ts'
import { customersRoutes } from '../features/customers/routes.ts'
import { domainsRoutes } from '../features/domains/routes.ts'
import { eventsRoutes } from '../features/events/routes.ts'
import { foldersRoutes } from '../features/folders/routes.ts'
import { homeRoutes } from '../features/home/routes.ts'
import { importsRoutes } from '../features/imports/routes.ts'
import { invitesRoutes } from '../features/invites/routes.ts'
import { linksRoutes } from '../features/links/routes.ts'
import { membersRoutes } from '../features/members/routes.ts'
import { notificationsRoutes } from '../features/notifications/routes.ts'
import { operatorRoutes } from '../features/operator/routes.ts'
import { partnersRoutes } from '../features/partners/routes.ts'
import { permissionsRoutes } from '../features/permissions/routes.ts'
import { settingsIndexRoute, settingsRoute } from '../features/settings/routes.tsx'
import { sharesRoutes } from '../features/shares/routes.ts'
import { tagsRoutes } from '../features/tags/routes.ts'
import { tokensRoutes } from '../features/tokens/routes.ts'
import { trackRoutes } from '../features/track/routes.ts'
import { utmTemplatesRoutes } from '../features/utm-templates/routes.ts'
import { webhooksRoutes } from '../features/webhooks/routes.ts'
import { generalRoute, usageRoute, workspacesRoutes } from '../features/workspaces/routes.ts'
import { partsRoute } from '../parts/routes.ts'
import { ErrorPage } from './errors.tsx'
import { Loading } from './loading.tsx'
import { rootRoute, startRoute, workspaceRoute } from './routes.tsx'

const settings = settingsRoute.addChildren([
  settingsIndexRoute,
  generalRoute,
  ...membersRoutes,
  ...invitesRoutes,
  ...permissionsRoutes,
  ...tokensRoutes,
  ...sharesRoutes,
  ...trackRoutes,
  ...webhooksRoutes,
  ...auditRoutes,
  usageRoute,
  ...accountRoutes,
  ...notificationsRoutes,
])

const pages = workspaceRoute.addChildren([
  ...homeRoutes,
  ...linksRoutes,
  ...foldersRoutes,
  ...tagsRoutes,
  ...utmTemplatesRoutes,
  ...importsRoutes,
  ...analyticsRoutes,
  ...eventsRoutes,
  ...customersRoutes,
  ...partnersRoutes,
  ...domainsRoutes,
  settings,
])

/** Pages for those who work on the dashboard; what is built for others has none of them. */
const development = import.meta.env.DEV ? [partsRoute] : []

export const router = createRouter({
  routeTree: rootRoute.addChildren([startRoute, ...workspacesRoutes, ...operatorRoutes, ...development, pages]),
  basepath: '/app',
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  defaultErrorComponent: ErrorPage,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
