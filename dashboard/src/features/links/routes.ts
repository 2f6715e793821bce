import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import { parseLinksSearch } from './search.ts'

const linksRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links',
  validateSearch: parseLinksSearch,
  component: lazyPage('links', () => import('./links-page.tsx'), 'LinksPage'),
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

export const linksRoutes = [linksRoute, deletedRoute, linkRoute] as const
