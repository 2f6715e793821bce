import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const homeRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: '/',
  component: lazyPage('home', () => import('./home-page.tsx'), 'HomePage'),
})

export const homeRoutes = [homeRoute] as const
