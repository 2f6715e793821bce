import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'

const tagsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'links/tags',
  component: lazyPage('tags', () => import('./tags-page.tsx'), 'TagsPage'),
})

export const tagsRoutes = [tagsRoute] as const
