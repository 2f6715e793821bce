import type { ActorNames } from '../features/audit/list.ts'
import { usersByIds } from '../features/auth/service.ts'
import { tokenNames } from '../features/tokens/service.ts'

/** Finds the names of users and keys for the audit log, which their features call to record. */
export const actorNames: ActorNames = async (platform, workspaceId, ids) => {
  const [users, keys] = await Promise.all([usersByIds(platform, ids), tokenNames(platform, workspaceId, ids)])
  return new Map([...keys, ...[...users].map(([id, { name }]) => [id, name] as const)])
}
