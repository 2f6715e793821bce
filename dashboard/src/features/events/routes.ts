import { createRoute } from '@tanstack/react-router'
import { lazyPage, unparsed } from '../../app/lazy-page.ts'
import { operationQuery, queryClient } from '../../app/queries.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import type { EventsSearch } from './search.ts'

const eventsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'events',
  validateSearch: unparsed<EventsSearch>,
  component: lazyPage(['events', 'analytics'], () => import('./events-page.tsx'), 'EventsPage'),
  staticData: { readFirst },
})

/** Days are those of the workspace's time zone, so that events are asked for when it is known. */
function readFirst(workspace: string): void {
  void queryClient.prefetchQuery(operationQuery(workspace, 'getWorkspace', { params: { idOrSlug: workspace } }))
  void queryClient.prefetchQuery(operationQuery(workspace, 'getPreferences'))
}

export const eventsRoutes = [eventsRoute] as const
