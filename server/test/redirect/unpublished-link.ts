import type { Link, NewLink } from '@tributary/contract/links'
import { sql } from 'kysely'
import type { Workspace } from '../../src/features/workspaces/service.ts'
import type { Platform } from '../../src/platform/context.ts'
import { transaction } from '../../src/platform/postgres.ts'
import { buildLink, buildWorkspace } from '../build.ts'

/** Creates a link in a new workspace without publishing it, so that no late message evicts it from a cache. */
export function buildUnpublishedLink(
  platform: Platform,
  given: Partial<NewLink>,
): Promise<{ link: Link; workspace: Workspace }> {
  return transaction(platform, async (platform) => {
    const workspace = await buildWorkspace(platform)
    const link = await buildLink(platform, workspace, given)
    await sql`DELETE FROM outbox WHERE workspace_id = ${workspace.id}`.execute(platform.db)
    return { link, workspace }
  })
}
