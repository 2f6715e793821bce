export const scopes = [
  'apis.all',
  'apis.read',
  'links.read',
  'links.write',
  'analytics.read',
  'domains.read',
  'domains.write',
  'tags.read',
  'tags.write',
  'folders.read',
  'folders.write',
  'customers.read',
  'customers.write',
  'conversions.write',
  'webhooks.read',
  'webhooks.write',
  'partners.read',
  'partners.write',
  'commissions.read',
  'commissions.write',
  'payouts.read',
  'payouts.write',
  'usage.read',
  'workspaces.read',
  'workspaces.write',
  'tokens.read',
  'tokens.write',
  'audit.read',
  'views.read',
  'views.write',
  'preferences.read',
  'preferences.write',
] as const
export type Scope = (typeof scopes)[number]

/** Whether these scopes allow what `scope` allows: `apis.all` allows everything, `apis.read` reading, and writing includes reading. */
export function includesScope(granted: readonly Scope[], scope: Scope): boolean {
  if (granted.includes('apis.all') || granted.includes(scope)) return true
  if (!scope.endsWith('.read')) return false
  return granted.includes('apis.read') || granted.includes(scope.replace('.read', '.write') as Scope)
}

/** The scopes that both lists allow. */
export function commonScopes(one: readonly Scope[], other: readonly Scope[]): Scope[] {
  if (other.includes('apis.all')) return [...one]
  return scopes.filter((scope) => includesScope(one, scope) && includesScope(other, scope))
}

/** Roles of workspace members. */
export const roles = ['owner', 'admin', 'member', 'viewer', 'billing'] as const
export type Role = (typeof roles)[number]

/** The scopes of each role. Only owners may call the operations that list `owner` as their role. */
export const roleScopes: Readonly<Record<Role, readonly Scope[]>> = {
  owner: ['apis.all'],
  admin: ['apis.all'],
  // Members manage only their own keys.
  member: [
    'apis.read',
    'links.write',
    'tags.write',
    'folders.write',
    'customers.write',
    'tokens.write',
    'views.write',
    'preferences.write',
  ],
  viewer: ['apis.read', 'preferences.write'],
  billing: ['usage.read', 'payouts.read', 'preferences.write'],
}
