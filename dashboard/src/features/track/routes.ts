import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { parseCheckSearch } from '../install-checks/search.ts'
import { settingsRoute } from '../settings/routes.tsx'

const trackingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'tracking',
  validateSearch: parseCheckSearch,
  component: lazyPage(['track', 'install-checks'], () => import('./tracking-page.tsx'), 'TrackingPage'),
})

export const trackRoutes = [trackingRoute] as const
