import { createRoute, Navigate } from '@tanstack/react-router'
import { lazyPage } from '../../app/lazy-page.ts'
import { workspaceRoute } from '../../app/routes.tsx'
import { useWorkspace } from '../../app/workspace.ts'

/** The parent of every page of the settings; features add theirs in `features/<noun>/routes.ts`. */
export const settingsRoute = createRoute({
  getParentRoute: () => workspaceRoute,
  path: 'settings',
  component: lazyPage('settings', () => import('./settings-page.tsx'), 'SettingsPage'),
})

export const settingsIndexRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  component: FirstSection,
})

function FirstSection() {
  const { can } = useWorkspace()
  const section = can('workspaces.read') ? 'general' : 'account'
  return <Navigate from="/$workspace" to={`/$workspace/settings/${section}`} replace />
}
