import { includesScope, type Scope, scopes } from '@tributary/contract/permissions'
import { type Area, type AreaAccess, areaAccess, areas } from '../permissions/areas.ts'

/** What keys are made for, with the scopes that it takes. */
const tasks = {
  links: ['links.write', 'tags.write', 'folders.read', 'domains.read'],
  report: ['analytics.read', 'links.read'],
  convert: ['conversions.write'],
  partners: ['partners.write', 'commissions.write', 'payouts.read'],
  read: ['apis.read'],
  all: ['apis.all'],
} as const satisfies Record<string, readonly Scope[]>

export type Task = keyof typeof tasks
export type Access = Record<Area, AreaAccess>

/** The tasks that a person may give a key: nobody grants a scope that they lack. */
export function offeredTasks(can: (scope: Scope) => boolean): Task[] {
  const isGrantable = (scope: Scope) => can(scope) || (scope === 'apis.read' && canReadAll(can))
  return (Object.keys(tasks) as Task[]).filter((task) => taskScopes(task).every(isGrantable))
}

export function taskScopes(task: Task): Scope[] {
  return [...tasks[task]]
}

/** The scopes of an access per area. */
export function accessScopes(access: Access): Scope[] {
  return areas.filter((area) => access[area] !== 'none').map((area) => `${area}.${access[area]}` as Scope)
}

/** The access per area of a list of scopes. */
export function scopeAccess(granted: readonly Scope[]): Access {
  return Object.fromEntries(areas.map((area) => [area, areaAccess(granted, area)])) as Access
}

function canReadAll(can: (scope: Scope) => boolean): boolean {
  return scopes.filter((scope) => scope.endsWith('.read') && scope !== 'apis.read').every(can)
}

/** Whether one list of scopes allows nothing that the other does not. */
export function isWithin(narrower: readonly Scope[], wider: readonly Scope[]): boolean {
  return narrower.every((scope) => includesScope(wider, scope))
}
