import { createRoute } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { rootRoute } from '../../app/routes.tsx'
import { loadWorkspaces } from '../../app/session.ts'
import { settingsRoute } from '../settings/routes.tsx'

// No workspace has this slug: the word is reserved.
const newWorkspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'new',
  // Sends a visitor without a session to the sign-in page first.
  beforeLoad: async () => ({ workspaces: await loadWorkspaces() }),
  component: lazyPage('workspaces', () => import('./new-workspace-page.tsx'), 'NewWorkspacePage'),
})

export const generalRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'general',
  component: lazyPage('workspaces', () => import('./general-page.tsx'), 'GeneralPage'),
})

export const usageRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'usage',
  component: lazyPage('workspaces', () => import('./usage-page.tsx'), 'UsagePage'),
})

export const workspacesRoutes = [newWorkspaceRoute] as const
