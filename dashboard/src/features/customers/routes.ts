import { createRoute } from '@tanstack/react-router'
import { lazyPage, unparsed } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import type { CustomersSearch } from './search.ts'

const customersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'customers',
  validateSearch: unparsed<CustomersSearch>,
  component: lazyPage('customers', () => import('./customers-page.tsx'), 'CustomersPage'),
})

const customerRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'customers/$id',
  validateSearch: (given: Record<string, unknown>): { order?: 'asc' } =>
    given.order === 'asc' ? { order: 'asc' } : {},
  component: lazyPage('customers', () => import('./customer-page.tsx'), 'CustomerPage'),
})

export const customersRoutes = [customersRoute, customerRoute] as const
