import type { OperationAnswer, OperationInput } from '@tributary/contract/client'

export type Workspace = OperationAnswer<'getWorkspace'>
type Patch = NonNullable<OperationInput<'updateWorkspace'>['body']>

/** What the fields of the form contain, all as texts; an empty text is no value. */
export type WorkspaceValues = Record<
  | 'name'
  | 'slug'
  | 'logo'
  | 'contactEmail'
  | 'defaultDomain'
  | 'timeZone'
  | 'weekStart'
  | 'currency'
  | 'attributionDays'
  | 'attributionModel'
  | 'ipStorage',
  string
>
export type WorkspaceField = keyof WorkspaceValues

const names = [
  'name',
  'slug',
  'logo',
  'contactEmail',
  'defaultDomain',
  'timeZone',
  'weekStart',
  'currency',
  'attributionDays',
  'attributionModel',
  'ipStorage',
] as const satisfies WorkspaceField[]
export const workspaceFields: readonly WorkspaceField[] = names

const numbers: readonly WorkspaceField[] = ['weekStart', 'attributionDays']

export function workspaceValues(workspace: Workspace): WorkspaceValues {
  return Object.fromEntries(names.map((name) => [name, String(workspace[name] ?? '')])) as WorkspaceValues
}

/** The body that changes the workspace: only what differs, with null for what was emptied. */
export function workspacePatchBody(before: WorkspaceValues, after: WorkspaceValues): Patch {
  const changed = findChanged(before, after)
  return Object.fromEntries(changed.map((name) => [name, readValue(name, after[name].trim())]))
}

export function findChanged(before: WorkspaceValues, after: WorkspaceValues): WorkspaceField[] {
  return names.filter((name) => before[name] !== after[name])
}

function readValue(name: WorkspaceField, text: string): string | number | null {
  if (numbers.includes(name)) return Number(text)
  if (name === 'name' || name === 'slug') return text
  return text === '' ? null : text
}
