import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const customersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'customers',
  component: lazyPage('customers', () => import('./customers-page.tsx'), 'CustomersPage'),
})

export const customersRoutes = [customersRoute] as const
