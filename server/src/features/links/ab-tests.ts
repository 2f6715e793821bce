import { asSystem, type Platform } from '../../platform/context.ts'
import { transaction } from '../../platform/postgres.ts'
import { selectDueTests, selectLinkForUpdate, updateLink } from './store.ts'
import { readUtm } from './url.ts'
import { publishChange } from './write.ts'

export type DueTest = {
  workspaceId: string
  linkId: string
  linkNumber: bigint
  variants: { url: string; percentage: number }[]
  startedAt: Date
}

export async function openTests(platform: Platform): Promise<DueTest[]> {
  const rows = await selectDueTests(platform.db, platform.now())
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    linkId: row.id,
    linkNumber: row.number,
    variants: row.test_variants ?? [],
    startedAt: row.test_started_at ?? row.created_at,
  }))
}

/** Ends an A/B test: `url` replaces the destination, if given. Concurrent calls end it once. */
export async function finishTest(
  platform: Platform,
  { workspaceId, linkId }: DueTest,
  url: string | undefined,
): Promise<void> {
  await transaction(asSystem(platform, workspaceId), async (ctx) => {
    const link = await selectLinkForUpdate(ctx.db, workspaceId, { id: linkId })
    if (!link || link.test_winner_at !== null) return
    const destination = url === undefined ? {} : { url, ...readUtm(url) }
    await updateLink(ctx.db, workspaceId, link.number, { ...destination, test_winner_at: ctx.now() })
    await publishChange(ctx, link.number, link)
  })
}
