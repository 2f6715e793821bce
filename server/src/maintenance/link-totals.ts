import { compareTotals } from '../features/links/service.ts'
import type { Handles } from './compare.ts'

/** A stored total that differs from the number of links; null stands for all tags, no folder or no user. */
export type TotalFinding = {
  workspaceId: string
  domain: string
  /** A tag's id; null counts all links, and an empty text the links with any tag. */
  tagId: string | null
  folderId: string | null
  archived: boolean
  stored: number
  counted: number
  repaired: boolean
}

/** Compares the stored totals with the links, all in one statement, so that no running request makes a difference. */
export async function reconcileTotals(
  platform: Handles,
  { workspaceId, repair }: { workspaceId?: string; repair: boolean },
): Promise<TotalFinding[]> {
  const found = await compareTotals(platform, { workspaceId, repair })
  return found.map(({ workspaceId, domain, tagId, folderId, archived, stored, counted }) => ({
    workspaceId,
    domain,
    tagId: tagId === '*' ? null : tagId,
    folderId: folderId || null,
    archived,
    stored: Number(stored),
    counted: Number(counted),
    repaired: repair,
  }))
}
