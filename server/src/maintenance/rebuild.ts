import { keepLinkAttributes } from '../features/event-storage/service.ts'
import { type ReplayedLog, restoreFromLog } from '../features/ingest/service.ts'
import { linksAtEvent } from '../features/links/service.ts'
import { betweenPartners, storePartners } from '../features/partner-attributes/service.ts'
import { partnerAttributes } from '../features/partners/service.ts'
import {
  exportUnattributedAgain,
  highestConversion,
  type RestoredRows,
  restoreMissingRows,
} from '../features/track/service.ts'
import type { Platform } from '../platform/context.ts'
import { conflict } from '../platform/errors.ts'
import { reconcileClicks } from './clicks.ts'
import type { Handles } from './compare.ts'
import { reconcileConversions } from './conversions.ts'
import { reconcileCustomers } from './customers.ts'
import { reconcileTotals } from './link-totals.ts'
import { reconcileRollups } from './rollups.ts'
import { withRebuildLock } from './store.ts'

export type Rebuilt = ReplayedLog & {
  links: number
  /** The number of leads, sales and refunds read from PostgreSQL, and of rows added to ClickHouse. */
  conversions: number
  conversionsAdded: number
  /** The number of repaired counters and rollups, and of those not repaired because a batch was being stored. */
  recovered: number
  unrepaired: number
}
type Report = (percent: number, text: string) => void

const linksAtOnce = 1_000
const partnersAtOnce = 10_000

/**
 * Adds missing events from the event log and PostgreSQL to ClickHouse. It deletes and changes no events, so it can be
 * interrupted and repeated while workers run.
 */
export async function rebuild(platform: Platform, report: Report): Promise<Rebuilt> {
  const rebuilt = await withRebuildLock(platform.db, async () => {
    const replayed = await restoreFromLog(platform, (share, text) => report(Math.floor(share * 60), text))
    const links = await restoreLinks(platform, (text) => report(60, text))
    await restorePartners(platform, (text) => report(60, text))
    const total = { ...replayed, links, recovered: 0, unrepaired: 0 }
    // Leads and sales come after clicks, because they copy location and device from their click.
    const restored = await rebuildConversions(platform, (share, text) => report(60 + Math.floor(share * 25), text))
    await finishCounts(platform, total, (share, text) => report(85 + Math.floor(share * 15), text))
    const recovered = {
      recovered: total.recovered + restored.recovered,
      unrepaired: total.unrepaired + restored.unrepaired,
    }
    return { ...total, ...restored, ...recovered }
  })
  if (!rebuilt) throw conflict('Another `tributary rebuild` is running. Wait for it to end.')
  report(100, `${rebuilt.added} clicks added`)
  return rebuilt
}

type ClickTotals = Omit<Rebuilt, 'conversions' | 'conversionsAdded'>

/** Writes the link attributes for event filters (domain, folder, tags and others) of all links to ClickHouse. */
export async function restoreLinks(platform: Handles, report: (text: string) => void): Promise<number> {
  let after = -1n
  let total = 0
  for (;;) {
    const links = await linksAtEvent(platform, after, linksAtOnce)
    await keepLinkAttributes(platform, links)
    total += links.length
    report(`${total} links`)
    if (links.length < linksAtOnce) return total
    after = BigInt(links.at(-1)?.linkNumber ?? 0)
  }
}

/** Writes the group and tags of all partners to ClickHouse. */
export async function restorePartners(platform: Handles, report: (text: string) => void): Promise<void> {
  let total = 0
  for (let after: bigint | undefined = -1n; after !== undefined; ) {
    after = await betweenPartners(platform, async (platform, isLocked): Promise<bigint | undefined> => {
      if (!isLocked) throw conflict('A worker is writing partners to ClickHouse and does not finish. Try again.')
      const partners = await partnerAttributes(platform, { after: after as bigint, count: partnersAtOnce })
      await storePartners(platform, partners)
      total += partners.length
      return partners.length < partnersAtOnce ? undefined : partners.at(-1)?.number
    })
    report(`${total} partners`)
  }
}

/** Adds leads, sales and refunds that ClickHouse lacks, and repairs the counters of links and customers. */
export async function rebuildConversions(platform: Handles, report: Report) {
  const total = { conversions: 0, conversionsAdded: 0, recovered: 0, unrepaired: 0 }
  await exportUnattributedAgain(platform)
  const highest = await highestConversion(platform)
  let after: bigint | undefined = -1n
  while (after !== undefined) {
    const { read, added, last }: RestoredRows = await restoreMissingRows(platform, { after })
    total.conversions += read
    total.conversionsAdded += added
    const share = last === undefined || highest === 0n ? 1 : Number((last * 1_000n) / highest) / 1_000
    report(share * 0.6, `${total.conversions} leads and sales read, ${total.conversionsAdded} rows added`)
    after = last
  }
  for await (const { findings, percent } of reconcileConversions(platform, { repair: true })) {
    for (const { repaired } of findings) total[repaired ? 'recovered' : 'unrepaired'] += 1
    report(0.6 + percent / 500, 'leads and sales of links')
  }
  for await (const { findings, percent } of reconcileCustomers(platform, { repair: true })) {
    total.recovered += findings.length
    report(0.8 + percent / 500, 'customers')
  }
  return total
}

/** Repairs link totals, rollups, which an interrupted insert may have left incomplete, and click counters, without lowering these. */
async function finishCounts(platform: Platform, total: ClickTotals, report: Report): Promise<void> {
  total.recovered += (await reconcileTotals(platform, { repair: true })).length
  for await (const { findings, month, percent } of reconcileRollups(platform, { repair: true })) {
    for (const { repaired } of findings) total[repaired ? 'recovered' : 'unrepaired'] += 1
    report(percent / 200, `rollups of ${month.slice(0, 7)}`)
  }
  for await (const { findings, percent } of reconcileClicks(platform, { repair: 'keep' })) {
    for (const { repaired, counter, rows } of findings)
      if (counter !== null && counter !== rows) total[repaired ? 'recovered' : 'unrepaired'] += 1
    report(0.5 + percent / 200, 'counters')
  }
}
