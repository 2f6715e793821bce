import { includesScope, type Scope, scopes } from '@tributary/contract/permissions'

type AreaName<S extends Scope> = S extends `${infer Name}.${string}` ? Name : never
/** What scopes are about: `links` of `links.read` and `links.write`. */
export type Area = Exclude<AreaName<Scope>, 'apis'>
export type AreaAccess = 'write' | 'read' | 'none'

export const areas = [...new Set(scopes.map((scope) => scope.split('.')[0]))].filter(
  (area) => area !== 'apis',
) as Area[]

/** How far scopes reach in an area. */
export function areaAccess(granted: readonly Scope[], area: Area): AreaAccess {
  const allows = (verb: 'write' | 'read') => {
    const scope = `${area}.${verb}` as Scope
    return scopes.includes(scope) && includesScope(granted, scope)
  }
  if (allows('write')) return 'write'
  return allows('read') ? 'read' : 'none'
}

/** The accesses that an area has: nobody can change analytics. */
export function possibleAccess(area: Area): AreaAccess[] {
  const verbs = ['read', 'write'] as const
  return ['none', ...verbs.filter((verb) => scopes.includes(`${area}.${verb}` as Scope))]
}
