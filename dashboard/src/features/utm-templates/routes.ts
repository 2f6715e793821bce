import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const utmTemplatesRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/utm-templates',
  component: lazyPage('utm-templates', () => import('./utm-templates-page.tsx'), 'UtmTemplatesPage'),
})

export const utmTemplatesRoutes = [utmTemplatesRoute] as const
