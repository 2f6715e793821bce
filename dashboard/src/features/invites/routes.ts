import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const invitesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'invites',
  component: lazyPage(['invites', 'permissions'], () => import('./invites-page.tsx'), 'InvitesPage'),
})

export const invitesRoutes = [invitesRoute] as const
