import { includesScope, roleScopes, type Scope } from '@tributary/contract/permissions'
import type { ListedWorkspace } from '@tributary/contract/workspaces'
import { createContext, use } from 'react'

export const WorkspaceContext = createContext<ListedWorkspace | undefined>(undefined)

/** The workspace of the page, and whether the signed-in person may do something in it. */
export function useWorkspace() {
  const workspace = use(WorkspaceContext)
  if (!workspace) throw new Error('useWorkspace is for pages below a workspace.')
  return { ...workspace, can: (scope: Scope) => can(workspace, scope) }
}

function can({ role }: ListedWorkspace, scope: Scope): boolean {
  return role !== null && includesScope(roleScopes[role], scope)
}
