import type { Platform } from '../../platform/context.ts'
import { liveWorkspaceCondition } from '../workspaces/service.ts'
import { lookupKey } from './key.ts'
import { buildShortLink } from './present.ts'
import { type LinkRow, selectLinkByAddress } from './store.ts'
import { selectVisitedLink } from './titles-store.ts'

type Databases = Pick<Platform, 'db'>

const live = liveWorkspaceCondition({ workspace: 'l.workspace_id' })

/** Finds a link of a workspace that is not deleted. */
export function linkByAddress({ db }: Databases, domain: string, key: string): Promise<LinkRow | undefined> {
  return selectLinkByAddress(db, domain, key, live)
}

/** The link with this address or id; undefined unless its statistics are public. */
export async function findPublicLink({ db }: Databases, by: { domain: string; key: string } | { id: string }) {
  const row =
    'id' in by
      ? await selectVisitedLink(db, by.id, live)
      : await linkByAddress({ db }, by.domain.toLowerCase(), lookupKey(by.key))
  return row?.public_stats ? { id: row.id, workspaceId: row.workspace_id, shortLink: buildShortLink(row) } : undefined
}
