import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const sharesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'shares',
  component: lazyPage('shares', () => import('./shares-page.tsx'), 'SharesPage'),
})

export const sharesRoutes = [sharesRoute] as const
