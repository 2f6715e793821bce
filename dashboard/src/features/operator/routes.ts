import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { rootRoute } from '../../app/routes.tsx'

// No workspace has this slug: slugs begin with a letter or a digit.
const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '_operator',
  component: lazyPage('operator', () => import('./operator-page.tsx'), 'OperatorPage'),
})

export const operatorRoutes = [operatorRoute] as const
