import { useWorkspace } from '../../app/workspace.ts'

/** Whether the plan of a workspace shows single events. */
export function includesEvents(plan: string): boolean {
  return plan !== 'free' && plan !== 'pro'
}

/** Whether this person may see single events of this workspace. */
export function useSeesEvents(): boolean {
  const { can, plan } = useWorkspace()
  return can('analytics.read') && includesEvents(plan)
}
