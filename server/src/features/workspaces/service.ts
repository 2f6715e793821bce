import type { Plan } from '@tributary/contract/operation'
import type { Platform } from '../../platform/context.ts'
import { AppError, conflict, invalid } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { insertWorkspace, selectWorkspace, selectWorkspaces, type WorkspaceRow } from './store.ts'

export type Workspace = WorkspaceRow

export async function createWorkspace(
  platform: Pick<Platform, 'db' | 'config'>,
  input: { name: string; slug?: string; plan?: Plan },
): Promise<Workspace> {
  const slug = input.slug ?? slugOf(input.name)
  if (!/^[a-z0-9][a-z0-9-]{2,47}$/.test(slug)) {
    throw invalid(`The slug ${JSON.stringify(slug)} must be 3 to 48 lower-case letters, digits and dashes.`)
  }
  const plan = input.plan ?? platform.config.DEFAULT_PLAN
  const workspace = await insertWorkspace(platform.db, { id: newId('ws'), name: input.name, slug, plan })
  if (!workspace) throw conflict(`The workspace slug ${slug} is taken. Choose another one.`)
  return workspace
}

export function listWorkspaces(platform: Pick<Platform, 'db'>): Promise<Workspace[]> {
  return selectWorkspaces(platform.db)
}

export async function requireWorkspace(platform: Pick<Platform, 'db'>, idOrSlug: string): Promise<Workspace> {
  const workspace = await selectWorkspace(platform.db, idOrSlug)
  if (!workspace)
    throw new AppError('not_found', `There is no workspace ${idOrSlug}. \`tributary workspace list\` shows them.`)
  return workspace
}

function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 48)
}
