import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { operationQuery, queryClient } from '../../app/queries.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import { type LinksSearch, linkFilters, linksQuery, parseLinksSearch } from './search.ts'

const linksRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links',
  validateSearch: parseLinksSearch,
  component: lazyPage('links', () => import('./links-page.tsx'), 'LinksPage'),
  staticData: { readFirst },
})

const linkRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/$id',
  component: lazyPage('links', () => import('./link-page.tsx'), 'LinkPage'),
})

const deletedRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/deleted',
  component: lazyPage('links', () => import('./deleted-page.tsx'), 'DeletedPage'),
})

/** Days of a filter are those of the time zone, which is not known yet: with such a filter the page asks later. */
function readFirst(workspace: string, search: LinksSearch): void {
  void queryClient.prefetchQuery(operationQuery(workspace, 'getWorkspace', { params: { idOrSlug: workspace } }))
  void queryClient.prefetchQuery(operationQuery(workspace, 'getPreferences'))
  if (search.created) return
  const links = { query: { ...linksQuery(search, 'UTC'), page: 1 } }
  void queryClient.prefetchQuery(operationQuery(workspace, 'getLinks', links))
  void queryClient.prefetchQuery(operationQuery(workspace, 'getLinksCount', { query: linkFilters(search, 'UTC') }))
}

export const linksRoutes = [linksRoute, deletedRoute, linkRoute] as const
