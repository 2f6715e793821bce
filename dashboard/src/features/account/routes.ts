import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const accountRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'account',
  component: lazyPage('account', () => import('./account-page.tsx'), 'AccountPage'),
})

export const accountRoutes = [accountRoute] as const
