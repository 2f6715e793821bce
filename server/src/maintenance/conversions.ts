import { betweenConversions } from '../features/event-storage/service.ts'
import { correctConversions, countedLinks } from '../features/links/service.ts'
import { conversionsByLink, keepCounts, type StoredConversions } from '../features/rollups/service.ts'
import {
  exportUnattributedAgain,
  highestConversion,
  type RecordedConversions,
  type RecordedCounts,
  recordedByLink,
  restoreMissingRows,
} from '../features/track/service.ts'
import { sleep } from '../platform/clock.ts'
import type { Platform } from '../platform/context.ts'
import { reconcileCustomers } from './customers.ts'

type Handles = Pick<Platform, 'db' | 'clickhouse' | 'config'>
type Options = { workspaceId?: string; repair?: boolean; linksAtOnce?: number }

/**
 * A link whose counters are not what PostgreSQL has recorded and brought to ClickHouse, or of which ClickHouse has
 * stored something else, or rows twice. Without id: conversions of a link that does not exist.
 */
export type ConversionFinding = {
  linkId: string | null
  linkNumber: string
  workspaceId: string
  address: string | null
  counted: RecordedCounts | null
  recorded: RecordedCounts
  stored: StoredConversions
  doubled: number
  repaired: boolean
}
export type ConversionStep = { links: number; findings: ConversionFinding[]; percent: number }
type Chunk = { links: number; findings: ConversionFinding[]; highest: bigint; last: bigint | undefined }

const highestNumber = 2n ** 63n - 1n
const recheckAfterMs = 2_000
const nothing = { leads: 0, conversions: 0, sales: 0, saleAmount: 0 }

/** Compares leads and sales of links with what is recorded and with their rows, some thousand links at a time. */
export async function* reconcileConversions(platform: Handles, options: Options): AsyncGenerator<ConversionStep> {
  let after = -1n
  for (;;) {
    let chunk = await readChunk(platform, options, after)
    if (chunk.findings.length > 0) {
      await sleep(recheckAfterMs)
      chunk = await lookAgain(platform, options, after, new Set(chunk.findings.map(nameOf)))
    }
    const percent = chunk.last === undefined ? 100 : Number((chunk.last * 100n) / (chunk.highest || 1n))
    yield { links: chunk.links, findings: chunk.findings, percent }
    if (chunk.last === undefined) return
    after = chunk.last
  }
}

async function readChunk(platform: Handles, options: Options, after: bigint): Promise<Chunk> {
  const { workspaceId, linksAtOnce = 10_000 } = options
  const { links, highest } = await countedLinks(platform, { workspaceId, after, count: linksAtOnce })
  const last = links.length < linksAtOnce ? undefined : links.at(-1)?.number
  const range = { workspaceId, first: after + 1n, last: last ?? highestNumber }
  const recorded = new Map((await recordedByLink(platform, range)).map((link) => [nameOf(link), link]))
  const stored = new Map((await conversionsByLink(platform, range)).map((link) => [nameOf(link), link]))
  const findings: ConversionFinding[] = []
  const compare = (link: Pick<ConversionFinding, 'linkId' | 'address' | 'counted'>, name: string) => {
    const finding = findingOf(link, name, recorded.get(name), stored.get(name))
    if (finding) findings.push(finding)
    recorded.delete(name)
    stored.delete(name)
  }
  for (const { number, workspaceId, id, address, leads, conversions, sales, saleAmount } of links) {
    const counted = { leads, conversions, sales, saleAmount }
    compare({ linkId: id, address, counted }, nameOf({ workspaceId, linkNumber: number }))
  }
  for (const name of new Set([...recorded.keys(), ...stored.keys()]))
    compare({ linkId: null, address: null, counted: null }, name)
  return { links: links.length, findings, highest, last }
}

/** Undefined when all is well. Rows of a batch that is under way may be there already, so then they are not compared. */
function findingOf(
  link: Pick<ConversionFinding, 'linkId' | 'address' | 'counted'>,
  name: string,
  { recorded, isUnderWay }: { recorded: RecordedCounts; isUnderWay: boolean } = {
    recorded: nothing,
    isUnderWay: false,
  },
  found: (StoredConversions & { doubled: number }) | undefined,
): ConversionFinding | undefined {
  const [workspaceId = '', linkNumber = ''] = name.split(' ')
  const { doubled = 0, leads = 0, sales = 0, saleAmount = 0 } = found ?? {}
  const finding = { ...link, workspaceId, linkNumber, recorded, doubled, repaired: false }
  const stored = isUnderWay ? recorded : { leads, sales, saleAmount }
  const isWrong = !isCounted(finding) || !isStored({ recorded, stored }) || doubled > 0
  return isWrong ? { ...finding, stored: { leads, sales, saleAmount } } : undefined
}

/** Between batches, so that what differs only because one was under way is gone. */
async function lookAgain(platform: Handles, options: Options, after: bigint, known: Set<string>): Promise<Chunk> {
  const chunk = await betweenConversions(platform, async (platform, isStill) => {
    const chunk = await readChunk(platform, options, after)
    const findings = chunk.findings.filter((finding) => known.has(nameOf(finding)))
    if (options.repair && isStill) await correctCounters(platform, findings)
    return { ...chunk, findings, isStill }
  })
  if (!options.repair || !chunk.isStill) return chunk
  const findings: ConversionFinding[] = []
  for (const finding of chunk.findings) {
    const isMended = isStored(finding) || (await restoreRows(platform, finding))
    findings.push({ ...finding, repaired: finding.linkId !== null && finding.doubled === 0 && isMended })
  }
  return { ...chunk, findings }
}

async function correctCounters(platform: Handles, findings: ConversionFinding[]): Promise<void> {
  const wrong = findings.filter((finding) => finding.linkId !== null && !isCounted(finding))
  if (wrong.length === 0) return
  const counts = wrong.map(({ workspaceId, linkNumber, recorded: { saleAmount, ...counts } }) => {
    return { workspaceId, linkNumber: BigInt(linkNumber), ...counts, saleAmount: BigInt(saleAmount) }
  })
  await correctConversions(platform, counts)
}

/** The rows that are missing; and what has expired and is counted nowhere any more, without rows. */
async function restoreRows(platform: Handles, finding: ConversionFinding): Promise<boolean> {
  const linkNumber = BigInt(finding.linkNumber)
  let after: bigint | undefined = -1n
  while (after !== undefined) after = (await restoreMissingRows(platform, { linkNumber, after })).last
  return betweenConversions(platform, async (platform, isStill) => {
    const range = { workspaceId: finding.workspaceId, first: linkNumber, last: linkNumber }
    const [{ recorded, isUnderWay } = {}]: Partial<RecordedConversions>[] = await recordedByLink(platform, range)
    if (!recorded || isUnderWay || !isStill) return false
    const [stored = nothing] = await conversionsByLink(platform, range)
    const leads = recorded.leads - stored.leads
    const sales = recorded.sales - stored.sales
    const sale_amount = recorded.saleAmount - stored.saleAmount
    if (leads === 0 && sales === 0 && sale_amount === 0) return true
    // Rows that nobody has recorded: only a person can tell whether they are to go.
    if (leads < 0 || sales < 0) return false
    const kept = { workspace_id: finding.workspaceId, link_number: finding.linkNumber, leads, sales, sale_amount }
    await keepCounts(platform, [kept])
    return true
  })
}

function isCounted({ counted, recorded }: Pick<ConversionFinding, 'counted' | 'recorded'>): boolean {
  if (counted === null) return recorded.leads === 0 && recorded.sales === 0 && recorded.saleAmount === 0
  return isStored({ recorded, stored: counted }) && counted.conversions === recorded.conversions
}

function isStored({ recorded, stored }: { recorded: StoredConversions; stored: StoredConversions }): boolean {
  const { leads, sales, saleAmount } = stored
  return leads === recorded.leads && sales === recorded.sales && saleAmount === recorded.saleAmount
}

function nameOf({ workspaceId, linkNumber }: { workspaceId: string; linkNumber: string | bigint }): string {
  return `${workspaceId} ${linkNumber}`
}

/** Adds the leads, sales and refunds that PostgreSQL has and ClickHouse has not, and sets all counters right. */
export async function rebuildConversions(platform: Handles, report: (share: number, text: string) => void) {
  const total = { conversions: 0, conversionsAdded: 0, mended: 0, unmended: 0 }
  await exportUnattributedAgain(platform)
  const highest = await highestConversion(platform)
  let after: bigint | undefined = -1n
  while (after !== undefined) {
    const { read, added, last }: Awaited<ReturnType<typeof restoreMissingRows>> = await restoreMissingRows(platform, {
      after,
    })
    total.conversions += read
    total.conversionsAdded += added
    const share = last === undefined || highest === 0n ? 1 : Number((last * 1_000n) / highest) / 1_000
    report(share * 0.6, `${total.conversions} leads and sales read, ${total.conversionsAdded} rows added`)
    after = last
  }
  for await (const { findings, percent } of reconcileConversions(platform, { repair: true })) {
    for (const { repaired } of findings) total[repaired ? 'mended' : 'unmended'] += 1
    report(0.6 + percent / 500, 'leads and sales of links')
  }
  for await (const { findings, percent } of reconcileCustomers(platform, { repair: true })) {
    total.mended += findings.length
    report(0.8 + percent / 500, 'customers')
  }
  return total
}
