import { createRootRoute, createRoute, notFound, redirect } from '@tanstack/react-router'
import { ErrorScreen, NotFoundPage, NotFoundScreen } from './errors.tsx'
import { chooseWorkspace, loadWorkspaces, rememberWorkspace } from './session.ts'
import { Shell } from './shell.tsx'

export const rootRoute = createRootRoute({ errorComponent: ErrorScreen, notFoundComponent: NotFoundScreen })

export const startRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: async () => {
    const workspace = await chooseWorkspace()
    if (!workspace) throw redirect({ to: '/new', replace: true })
    throw redirect({ to: '/$workspace', params: { workspace: workspace.slug }, replace: true })
  },
})

/** The parent of every page of a workspace; features add theirs in `features/<noun>/routes.ts`. */
export const workspaceRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '$workspace',
  beforeLoad: async ({ params }) => {
    const workspaces = await loadWorkspaces()
    const workspace = workspaces.find(({ slug }) => slug === params.workspace)
    if (!workspace) throw notFound({ routeId: '__root__' })
    rememberWorkspace(workspace.slug)
    return { workspace }
  },
  component: WorkspaceShell,
  errorComponent: ErrorScreen,
  notFoundComponent: NotFoundPage,
})

function WorkspaceShell() {
  return <Shell workspace={workspaceRoute.useRouteContext().workspace} />
}
