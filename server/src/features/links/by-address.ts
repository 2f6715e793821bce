import type { Platform } from '../../platform/context.ts'
import { liveWorkspaceCondition } from '../workspaces/service.ts'
import { type LinkRow, selectLinkByAddress } from './store.ts'

const live = liveWorkspaceCondition({ workspace: 'l.workspace_id' })

/** Finds a link of a workspace that is not deleted. */
export function linkByAddress({ db }: Pick<Platform, 'db'>, domain: string, key: string): Promise<LinkRow | undefined> {
  return selectLinkByAddress(db, domain, key, live)
}
