import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from '../app/routes.tsx'

export const partsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/_parts',
  component: lazyRouteComponent(() => import('./parts-page.tsx'), 'PartsPage'),
})
