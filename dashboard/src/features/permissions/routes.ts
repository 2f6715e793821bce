import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const rolesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'roles',
  component: lazyPage('permissions', () => import('./roles-page.tsx'), 'RolesPage'),
})

export const permissionsRoutes = [rolesRoute] as const
