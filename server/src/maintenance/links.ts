import { type CountedLink, countedLinks } from '../features/links/service.ts'
import type { Handles } from './compare.ts'

export type LinkOptions = { workspaceId?: string; linksAtOnce?: number }
/** A link with a difference; `linkId` is null when events have a link number that no link has. */
export type FoundLink = { linkId: string | null; linkNumber: string; workspaceId: string; address: string | null }
type LinkName = { workspaceId: string; linkNumber: bigint | string }

/** Reads a batch of links above the number `after`. `range` covers their numbers; the last batch's is open-ended. */
export async function readLinks(
  platform: Handles,
  { workspaceId, linksAtOnce = 10_000 }: LinkOptions,
  after: bigint,
  highestNumber: bigint,
) {
  const { links, highest } = await countedLinks(platform, { workspaceId, after, count: linksAtOnce })
  const next = links.length < linksAtOnce ? undefined : links.at(-1)?.linkNumber
  const percent = next === undefined ? 100 : Number((next * 100n) / (highest || 1n))
  const range = { workspaceId, first: after + 1n, last: next ?? highestNumber }
  return { links, range, progress: { links: links.length, percent, next } }
}

export function linkBucket({ workspaceId, linkNumber }: LinkName): string {
  return `${workspaceId} ${linkNumber}`
}

export function foundLink(link: CountedLink | undefined, events: LinkName | undefined): FoundLink {
  const { workspaceId = '', linkNumber = '' } = link ?? events ?? {}
  return { linkId: link?.id ?? null, linkNumber: String(linkNumber), workspaceId, address: link?.address ?? null }
}
