import { boundedSum } from '@tributary/contract/common'
import type { PartnerLink } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { hiddenFolders } from '../folders/service.ts'
import { lockPartnerLinks, moveLinks, selectLinksOfPartners, setDisabled } from './partners-store.ts'
import { buildShortLink } from './present.ts'
import { type LinkRow, selectLinksByNumber } from './store.ts'
import { publishEvents } from './write.ts'

/** The newest links of each partner, up to `most`, by partner id. */
export async function linksByPartner(
  ctx: Ctx,
  partnerIds: string[],
  most: { links: number; urlBytes: number },
): Promise<Map<string, PartnerLink[]>> {
  if (partnerIds.length === 0) return new Map()
  const ids = [...new Set(partnerIds)]
  const rows = await selectLinksOfPartners(ctx.db, ctx.workspaceId, ids, most, hiddenFolders(ctx))
  const links = Map.groupBy(rows, (row) => row.partner_id)
  return new Map([...links].map(([partnerId, mine]) => [partnerId, mine.map(presentPartnerLink)]))
}

function presentPartnerLink(row: Awaited<ReturnType<typeof selectLinksOfPartners>>[number]): PartnerLink {
  const { id, domain, key, url, clicks, leads, conversions, sales, sale_amount } = row
  const counts = { clicks: Number(clicks), leads: Number(leads), conversions: Number(conversions) }
  const amounts = { sales: Number(sales), saleAmount: boundedSum(sale_amount) }
  return { id, domain, key, shortLink: buildShortLink(row), url, ...counts, ...amounts }
}

const linksAtOnce = 500

/** Disables the partner's links that are enabled, at the time `at`. Call it in a transaction. */
export function disablePartnerLinks(ctx: Ctx, partnerId: string, at: Date): Promise<void> {
  return changePartnerLinks(ctx, partnerId, { from: [null], to: at })
}

/** Enables the partner's links that were disabled at one of these times. Call it in a transaction. */
export async function enablePartnerLinks(ctx: Ctx, partnerId: string, times: Date[]): Promise<void> {
  if (times.length > 0) await changePartnerLinks(ctx, partnerId, { from: times, to: null })
}

async function changePartnerLinks(ctx: Ctx, partnerId: string, change: { from: (Date | null)[]; to: Date | null }) {
  for (;;) {
    const numbers = await lockPartnerLinks(ctx.db, ctx.workspaceId, partnerId, {
      disabledAt: change.from,
      count: linksAtOnce,
    })
    const before = await selectLinksByNumber(ctx.db, ctx.workspaceId, numbers)
    await setDisabled(ctx.db, ctx.workspaceId, numbers, change.to)
    await publishUpdates(ctx, before)
    if (numbers.length < linksAtOnce) return
  }
}

/** Gives all links of one partner to another. Call it in a transaction. */
export async function movePartnerLinks(ctx: Ctx, from: string, to: { id: string; tenantId: string | null }) {
  for (;;) {
    const numbers = await lockPartnerLinks(ctx.db, ctx.workspaceId, from, { count: linksAtOnce })
    const before = await selectLinksByNumber(ctx.db, ctx.workspaceId, numbers)
    await moveLinks(ctx.db, ctx.workspaceId, numbers, to)
    await publishUpdates(ctx, before)
    if (numbers.length < linksAtOnce) return
  }
}

async function publishUpdates(ctx: Ctx, before: LinkRow[]): Promise<void> {
  const rows = await selectLinksByNumber(
    ctx.db,
    ctx.workspaceId,
    before.map((row) => row.number),
  )
  await publishEvents(ctx, 'link.updated', rows, new Map(before.map((row) => [row.number, row])))
}
