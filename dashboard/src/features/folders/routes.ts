import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const foldersRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/folders',
  component: lazyPage('folders', () => import('./folders-page.tsx'), 'FoldersPage'),
})

export const foldersRoutes = [foldersRoute] as const
