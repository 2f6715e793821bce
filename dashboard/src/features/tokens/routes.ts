import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const tokensRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'keys',
  component: lazyPage(['tokens', 'permissions'], () => import('./tokens-page.tsx'), 'TokensPage'),
})

export const tokensRoutes = [tokensRoute] as const
