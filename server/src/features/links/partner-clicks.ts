import type { Platform } from '../../platform/context.ts'
import { addPartnerClicks, replacePartnerClicks } from '../partners/service.ts'
import type { ClickCount } from './counters-store.ts'
import { selectPartnersOfLinks, sumClicksOfPartners } from './partners-store.ts'

/** Adds clicks on links to the totals of the links' partners. */
export async function addClicksOfPartners({ db }: Pick<Platform, 'db'>, counts: ClickCount[]): Promise<void> {
  const links = await selectPartnersOfLinks(
    db,
    counts.map((count) => count.linkNumber),
  )
  if (links.length === 0) return
  const clicks = new Map(counts.map((count) => [count.linkNumber, count.clicks]))
  await addPartnerClicks(
    db,
    links.map(({ number, workspaceId, partnerId }) => ({ workspaceId, partnerId, clicks: clicks.get(number) ?? 0 })),
  )
}

/** Sets the totals of the links' partners to the sums of their links' clicks. */
export async function recountPartners({ db }: Pick<Platform, 'db'>, linkNumbers: bigint[]): Promise<void> {
  const links = await selectPartnersOfLinks(db, linkNumbers)
  const partners = new Map(links.map((link) => [link.partnerId, link]))
  if (partners.size > 0) await replacePartnerClicks(db, await sumClicksOfPartners(db, [...partners.values()]))
}
