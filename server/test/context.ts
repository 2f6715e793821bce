import type { Ctx, Platform } from '../src/platform/context.ts'

/** Returns the context of an API key of the workspace, with every scope. */
export function contextIn(platform: Platform, workspaceId: string): Ctx {
  const actor = { kind: 'key' as const, id: 'key_test', scopes: ['apis.all' as const] }
  return { ...platform, workspaceId, plan: 'enterprise', actor, requestId: 'test' }
}
