import { useWorkspace } from '../../app/workspace.ts'

/** Whether the plan of a workspace counts clicks, leads and sales by period. */
export function includesAnalytics(plan: string): boolean {
  return plan !== 'free'
}

/** Whether this person may see the figures of this workspace by period. */
export function useSeesAnalytics(): boolean {
  const { can, plan } = useWorkspace()
  return can('analytics.read') && includesAnalytics(plan)
}
