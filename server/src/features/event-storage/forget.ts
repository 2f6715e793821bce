import { chunks } from '../../platform/batches.ts'
import type { Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import type { FolderDeleted } from '../folders/messages.ts'
import type { TagDeleted } from '../tags/messages.ts'
import { lockLinkAttributes, removeFolders, removeTags } from './store.ts'

// ClickHouse query parameters are part of the URL, whose length servers limit.
const correctedAtOnce = 100

export function forgetTags(platform: Pick<Platform, 'clickhouse' | 'db'>, deleted: TagDeleted[]): Promise<void> {
  const byWorkspace = Map.groupBy(deleted, ({ workspaceId }) => workspaceId)
  return correctLinks(platform, byWorkspace, (workspaceId, tags) =>
    removeTags(
      platform.clickhouse,
      workspaceId,
      tags.map(({ tagId }) => tagId),
    ),
  )
}

export function forgetFolders(platform: Pick<Platform, 'clickhouse' | 'db'>, deleted: FolderDeleted[]): Promise<void> {
  const byWorkspace = Map.groupBy(deleted, ({ workspaceId }) => workspaceId)
  return correctLinks(platform, byWorkspace, (workspaceId, folders) =>
    removeFolders(
      platform.clickhouse,
      workspaceId,
      folders.map(({ folderId }) => folderId),
    ),
  )
}

/** Corrects link attributes, one correction at a time per workspace: concurrent corrections would undo each other. */
async function correctLinks<T>(
  platform: Pick<Platform, 'db'>,
  byWorkspace: Map<string, T[]>,
  correct: (workspaceId: string, part: T[]) => Promise<void>,
): Promise<void> {
  for (const [workspaceId, items] of byWorkspace) {
    await transaction(platform, async ({ db }) => {
      await lockLinkAttributes(db, workspaceId)
      for (const part of chunks(items, correctedAtOnce)) await correct(workspaceId, part)
    })
  }
}
