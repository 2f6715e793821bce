import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const partnersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'partners',
  component: lazyPage('partners', () => import('./partners-page.tsx'), 'PartnersPage'),
})

export const partnersRoutes = [partnersRoute] as const
