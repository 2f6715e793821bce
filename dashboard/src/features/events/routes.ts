import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const eventsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'events',
  component: lazyPage('events', () => import('./events-page.tsx'), 'EventsPage'),
})

export const eventsRoutes = [eventsRoute] as const
