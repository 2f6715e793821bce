import { createRoute } from '@tanstack/react-router'
import { lazyPage, unparsed } from '../../app/lazy-page.ts'
import { operationQuery, queryClient } from '../../app/queries.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import type { AnalyticsSearch } from './analytics-search.ts'

const analyticsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'analytics',
  validateSearch: unparsed<AnalyticsSearch>,
  component: lazyPage('analytics', () => import('./analytics-page.tsx'), 'AnalyticsPage'),
  staticData: { readFirst },
})

/** Days are those of the workspace's time zone, so that figures are asked for when it is known. */
function readFirst(workspace: string): void {
  void queryClient.prefetchQuery(operationQuery(workspace, 'getWorkspace', { params: { idOrSlug: workspace } }))
}

export const analyticsRoutes = [analyticsRoute] as const
