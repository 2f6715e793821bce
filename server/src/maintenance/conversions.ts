import { betweenConversions } from '../features/event-storage/service.ts'
import { correctConversions } from '../features/links/service.ts'
import { conversionsByLink, keepCounts, type StoredConversions } from '../features/rollups/service.ts'
import { type RecordedCounts, recordedByLink, restoreMissingRows } from '../features/track/service.ts'
import { compare, type Handles, joinByBucket } from './compare.ts'
import { type FoundLink, foundLink, type LinkOptions, linkBucket, readLinks } from './links.ts'

/**
 * A link whose lead and sale counters or ClickHouse rows differ from the exported leads and sales in PostgreSQL, or
 * whose ClickHouse rows are doubled.
 */
export type ConversionFinding = FoundLink & {
  counted: RecordedCounts | null
  recorded: RecordedCounts
  stored: StoredConversions
  doubled: number
  repaired: boolean
}

const highestNumber = 2n ** 63n - 1n
const nothing = { leads: 0, conversions: 0, sales: 0, saleAmount: 0 }

/** Compares links' lead and sale counters with PostgreSQL and ClickHouse rows, some thousand links at a time. */
export function reconcileConversions(platform: Handles, options: LinkOptions & { repair?: boolean }) {
  return compare(
    platform,
    {
      first: -1n,
      read: (platform: Handles, after: bigint) => readConversions(platform, options, after),
      findBucket: linkBucket,
      pause: (platform, _, work) => betweenConversions(platform, work),
      repair: correctCounters,
      finish: finishRepair,
    },
    options.repair ?? false,
  )
}

/** Reads lead and sale counts. Skips ClickHouse rows of links with a running export, which may be half stored. */
async function readConversions(platform: Handles, options: LinkOptions, after: bigint) {
  const { links, range, progress } = await readLinks(platform, options, after, highestNumber)
  const recorded = await recordedByLink(platform, range)
  const stored = await conversionsByLink(platform, range)
  const findings = joinByBucket({ link: links, known: recorded, found: stored }, linkBucket).flatMap(
    ({ link, known, found }): ConversionFinding[] => {
      const { leads, sales, saleAmount, doubled } = found ?? { ...nothing, doubled: 0 }
      const finding = {
        ...foundLink(link, known ?? found),
        counted: link ? readCounters(link) : null,
        recorded: known?.recorded ?? nothing,
        stored: { leads, sales, saleAmount },
        doubled,
        repaired: false,
      }
      const isRight = isCounted(finding) && (known?.isUnderWay || isStored(finding)) && doubled === 0
      return isRight ? [] : [finding]
    },
  )
  return { ...progress, findings }
}

function readCounters({ leads, conversions, sales, saleAmount }: RecordedCounts): RecordedCounts {
  return { leads, conversions, sales, saleAmount }
}

async function correctCounters(platform: Handles, findings: ConversionFinding[]): Promise<ConversionFinding[]> {
  const wrong = findings.filter((finding) => finding.linkId !== null && !isCounted(finding))
  const counts = wrong.map(({ workspaceId, linkNumber, recorded: { saleAmount, ...counts } }) => {
    return { workspaceId, linkNumber: BigInt(linkNumber), ...counts, saleAmount: BigInt(saleAmount) }
  })
  if (counts.length > 0) await correctConversions(platform, counts)
  return findings
}

/** Inserts missing ClickHouse rows. Runs after the pause, because each insert needs its own pause. */
async function finishRepair(platform: Handles, finding: ConversionFinding): Promise<ConversionFinding> {
  const hasRows = isStored(finding) || (await restoreRows(platform, finding))
  return { ...finding, repaired: finding.linkId !== null && finding.doubled === 0 && hasRows }
}

/** Inserts a link's missing ClickHouse rows. Expired leads and sales are recorded as counted without rows. */
async function restoreRows(platform: Handles, { workspaceId, linkNumber }: ConversionFinding): Promise<boolean> {
  const number = BigInt(linkNumber)
  let after: bigint | undefined = -1n
  while (after !== undefined) after = (await restoreMissingRows(platform, { linkNumber: number, after })).last
  return betweenConversions(platform, async (platform, isLocked) => {
    const range = { workspaceId, first: number, last: number }
    const [known] = await recordedByLink(platform, range)
    if (!known || known.isUnderWay || !isLocked) return false
    const [stored = nothing] = await conversionsByLink(platform, range)
    const leads = known.recorded.leads - stored.leads
    const sales = known.recorded.sales - stored.sales
    const sale_amount = known.recorded.saleAmount - stored.saleAmount
    if (leads === 0 && sales === 0 && sale_amount === 0) return true
    // ClickHouse has rows that PostgreSQL lacks: only the operator can decide whether to delete them.
    if (leads < 0 || sales < 0) return false
    await keepCounts(platform, [{ workspace_id: workspaceId, link_number: linkNumber, leads, sales, sale_amount }])
    return true
  })
}

function isCounted({ counted, recorded }: Pick<ConversionFinding, 'counted' | 'recorded'>): boolean {
  if (counted === null) return isStored({ recorded, stored: nothing })
  return isStored({ recorded, stored: counted }) && counted.conversions === recorded.conversions
}

function isStored({ recorded, stored }: { recorded: StoredConversions; stored: StoredConversions }): boolean {
  const { leads, sales, saleAmount } = stored
  return leads === recorded.leads && sales === recorded.sales && saleAmount === recorded.saleAmount
}
