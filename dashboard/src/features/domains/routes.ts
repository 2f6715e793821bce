import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import { parseDomainsSearch } from './search.ts'

const domainsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'domains',
  validateSearch: parseDomainsSearch,
  component: lazyPage('domains', () => import('./domains-page.tsx'), 'DomainsPage'),
})

const domainRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'domains/$slug',
  component: lazyPage('domains', () => import('./domain-page.tsx'), 'DomainPage'),
})

export const domainsRoutes = [domainsRoute, domainRoute] as const
