import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const importRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/import',
  component: lazyPage('imports', () => import('./import-page.tsx'), 'ImportPage'),
})

export const importsRoutes = [importRoute] as const
