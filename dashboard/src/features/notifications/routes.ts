import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const notificationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'notifications',
  component: lazyPage('notifications', () => import('./notifications-page.tsx'), 'NotificationsPage'),
})

export const notificationsRoutes = [notificationsRoute] as const
