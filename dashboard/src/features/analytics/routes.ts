import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const analyticsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'analytics',
  component: lazyPage('analytics', () => import('./analytics-page.tsx'), 'AnalyticsPage'),
})

export const analyticsRoutes = [analyticsRoute] as const
