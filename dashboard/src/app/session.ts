import type { ListedWorkspace } from '@tributary/contract/workspaces'
import { readCookie, writeCookie } from './cookies.ts'
import { operationQuery, queryClient } from './queries.ts'

const lastWorkspace = 'tributary_workspace'

export const workspacesQuery = operationQuery(undefined, 'listWorkspaces', { query: { pageSize: 100 } })

/** The workspaces of the signed-in person. A visitor without a session is sent to the sign-in page. */
export function loadWorkspaces(): Promise<ListedWorkspace[]> {
  return queryClient.ensureQueryData({ ...workspacesQuery, revalidateIfStale: true })
}

/** The workspace that `/app` opens: the one that this browser showed last, else the oldest. */
export async function chooseWorkspace(): Promise<ListedWorkspace | undefined> {
  const workspaces = await loadWorkspaces()
  return workspaces.find(({ slug }) => slug === readCookie(lastWorkspace)) ?? workspaces[0]
}

export function rememberWorkspace(slug: string): void {
  writeCookie(lastWorkspace, slug)
}
