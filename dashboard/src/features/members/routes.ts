import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { settingsRoute } from '../settings/routes.tsx'

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'members',
  component: lazyPage(['members', 'permissions'], () => import('./members-page.tsx'), 'MembersPage'),
})

export const membersRoutes = [membersRoute] as const
