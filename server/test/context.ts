import type { Ctx, Platform } from '../src/platform/context.ts'

/** A context as a key of that workspace with every scope would have. */
export function contextIn(platform: Platform, workspaceId: string): Ctx {
  const actor = { kind: 'key' as const, id: 'key_test', scopes: ['apis.all' as const] }
  return { ...platform, workspaceId, plan: 'enterprise', actor, requestId: 'test' }
}
