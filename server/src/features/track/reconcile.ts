import { sleep } from '../../platform/clock.ts'
import { asSystem, type Platform } from '../../platform/context.ts'
import { type Rewind, saveLost, selectRewinds } from '../../platform/incarnation.ts'
import { transaction } from '../../platform/postgres.ts'
import { correctSales, customersById, highestCustomer, type SoldTo, soldTo } from '../customers/service.ts'
import { attributesBetween, betweenConversions, conversionsStoredSince } from '../event-storage/service.ts'
import { announceAgain, correctConversions, countedLinks } from '../links/service.ts'
import { conversionsByLink, keepCounts, type StoredConversions } from '../rollups/service.ts'
import { restoreSome } from './export.ts'
import { releaseUnattributed, selectHighestNumber, selectIds, selectRecorded, selectSold } from './store.ts'

type Handles = Pick<Platform, 'db' | 'clickhouse' | 'config'>
type Options = { workspaceId?: string; repair?: boolean; linksAtOnce?: number }
export type Recorded = StoredConversions & { conversions: number }

/**
 * A link whose counters are not what PostgreSQL has recorded and brought to ClickHouse, or of which ClickHouse has
 * stored something else, or rows twice. Without id: conversions of a link that does not exist.
 */
export type ConversionFinding = {
  linkId: string | null
  linkNumber: string
  workspaceId: string
  address: string | null
  counted: Recorded | null
  recorded: Recorded
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
  const recorded = await recordedByLink(platform, range)
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

type RecordedByLink = Map<string, { recorded: Recorded; isUnderWay: boolean }>

async function recordedByLink(
  { db }: Handles,
  range: { workspaceId?: string; first: bigint; last: bigint },
): Promise<RecordedByLink> {
  const rows = await selectRecorded(db, range)
  return new Map(
    rows.map(({ workspace_id, link_number, under_way, leads, conversions, sales, sale_amount }) => {
      const counts = { leads: Number(leads), conversions: Number(conversions), sales: Number(sales) }
      const recorded = { ...counts, saleAmount: Number(sale_amount) }
      const name = nameOf({ workspaceId: workspace_id, linkNumber: link_number })
      return [name, { recorded, isUnderWay: under_way > 0n }]
    }),
  )
}

/** Undefined when all is well. Rows of a batch that is under way may be there already, so then they are not compared. */
function findingOf(
  link: Pick<ConversionFinding, 'linkId' | 'address' | 'counted'>,
  name: string,
  { recorded, isUnderWay }: { recorded: Recorded; isUnderWay: boolean } = { recorded: nothing, isUnderWay: false },
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
  while (after !== undefined) after = (await restoreSome(platform, { linkNumber, after })).last
  return betweenConversions(platform, async (platform, isStill) => {
    const range = { workspaceId: finding.workspaceId, first: linkNumber, last: linkNumber }
    const { recorded, isUnderWay } = (await recordedByLink(platform, range)).get(nameOf(finding)) ?? {}
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

type CustomerHandles = Pick<Platform, 'db'>
type CustomerOptions = { workspaceId?: string; repair?: boolean; customersAtOnce?: number }
type Sold = Pick<SoldTo, 'sales' | 'saleAmount'>

/** A customer who is counted to have bought something else than is recorded. */
export type CustomerFinding = {
  customerId: string
  workspaceId: string
  counted: Sold
  recorded: Sold
  repaired: boolean
}
export type CustomerStep = { customers: number; findings: CustomerFinding[]; percent: number }

/** Compares what customers are counted to have bought with their sales and refunds, some thousand at a time. */
export async function* reconcileCustomers(
  platform: CustomerHandles,
  options: CustomerOptions,
): AsyncGenerator<CustomerStep> {
  const { workspaceId, customersAtOnce = 10_000 } = options
  const highest = await highestCustomer(platform)
  let after = -1n
  for (;;) {
    const customers = await soldTo(platform, { workspaceId, after, count: customersAtOnce })
    const wrong = (await compareCustomers(platform, customers)).map(({ number }) => number)
    const findings = wrong.length > 0 ? await lookAtCustomersAgain(platform, wrong, options.repair) : []
    after = customers.at(-1)?.number ?? after
    const isEnd = customers.length < customersAtOnce
    const percent = isEnd ? 100 : Math.min(100, Number((after * 100n) / (highest || 1n)))
    yield { customers: customers.length, findings, percent }
    if (isEnd) return
  }
}

type Difference = SoldTo & { recorded: Sold }

async function compareCustomers({ db }: CustomerHandles, customers: SoldTo[]): Promise<Difference[]> {
  const wrong: Difference[] = []
  for (const [workspaceId, mine] of Map.groupBy(customers, (customer) => customer.workspaceId)) {
    const ids = mine.map(({ id }) => id)
    const sold = new Map((await selectSold(db, workspaceId, ids)).map((row) => [row.customer_id, row]))
    for (const customer of mine) {
      const { sales = 0n, sale_amount = 0n } = sold.get(customer.id) ?? {}
      const recorded = { sales: Number(sales), saleAmount: Number(sale_amount) }
      const isRight = customer.sales === recorded.sales && customer.saleAmount === recorded.saleAmount
      if (!isRight) wrong.push({ ...customer, recorded })
    }
  }
  return wrong
}

/** A sale changes both in one transaction, which waits while we hold its customer. */
function lookAtCustomersAgain(
  platform: CustomerHandles,
  numbers: bigint[],
  repair = false,
): Promise<CustomerFinding[]> {
  return transaction(platform, async (platform) => {
    const wrong = await compareCustomers(platform, await soldTo(platform, { numbers }))
    const right = wrong.map(({ number, recorded }) => ({ number, ...recorded }))
    if (repair && right.length > 0) await correctSales(platform, right)
    return wrong.map(({ id, workspaceId, sales, saleAmount, recorded }) => {
      return { customerId: id, workspaceId, counted: { sales, saleAmount }, recorded, repaired: repair }
    })
  })
}

/** Adds the leads, sales and refunds that PostgreSQL has and ClickHouse has not, and sets all counters right. */
export async function rebuildConversions(platform: Handles, report: (share: number, text: string) => void) {
  const total = { conversions: 0, conversionsAdded: 0, mended: 0, unmended: 0 }
  await releaseUnattributed(platform.db)
  const highest = await selectHighestNumber(platform.db)
  let after: bigint | undefined = -1n
  while (after !== undefined) {
    const { read, added, last }: Awaited<ReturnType<typeof restoreSome>> = await restoreSome(platform, { after })
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

/** Records that ClickHouse knows and PostgreSQL does not. */
export type Lost = { links: number; leads: number; sales: number; customers: number }

const lostAtOnce = 5_000
const settleAfterMs = 10_000
// PostgreSQL writes a sequence to its log 32 numbers ahead: after a crash it seems to have given them.
const loggedAhead = 64n
// Rows of the time shortly before are looked at too: clocks may differ.
const overlapMs = 60_000

/** After PostgreSQL went back: counts what it lost, once, and makes known again what it has. */
export async function settleRewinds(platform: Platform): Promise<void> {
  for (const rewind of await selectRewinds(platform.db)) {
    if (rewind.engine !== 'postgresql') continue
    if (rewind.lost === null) await settleRewind(platform, rewind)
    else for (const [kind, count] of Object.entries(rewind.lost)) platform.metrics.lostRecords.set({ kind }, count)
  }
}

async function settleRewind(platform: Platform, rewind: Rewind): Promise<void> {
  if (platform.now().getTime() - rewind.found_at.getTime() < settleAfterMs) return
  const lost = await countLost(platform, rewind)
  await saveLost(platform.db, rewind, lost)
  if (Object.values(lost).every((count) => count === 0)) return
  platform.log.error(
    { since: rewind.since, until: rewind.until, ...lost },
    'PostgreSQL lost records that ClickHouse knows: `tributary verify` lists them',
  )
}

/** Links that PostgreSQL has in an older version than ClickHouse get a new one, so that its state counts again. */
async function countLost(platform: Platform, rewind: Rewind): Promise<Lost> {
  const { leads, sales, customers } = await countConversions(platform, rewind)
  return { links: await countLinks(platform, rewind), leads, sales, customers }
}

async function countLinks(platform: Platform, { sequences }: Rewind): Promise<number> {
  const [before, moved] = sequences.link_versions ?? ['0', '0']
  let lost = 0
  for (let after = '0'; ; ) {
    const links = await attributesBetween(platform, [BigInt(before) - loggedAhead, BigInt(moved)], {
      after,
      count: lostAtOnce,
    })
    for (const [workspaceId, mine] of Map.groupBy(links, ({ workspace_id }) => workspace_id)) {
      const numbers = mine.map(({ number }) => BigInt(number))
      const there = new Set(await announceAgain(asSystem(platform, workspaceId), numbers))
      lost += mine.filter(({ number, is_deleted }) => !is_deleted && !there.has(BigInt(number))).length
    }
    if (links.length < lostAtOnce) return lost
    after = links.at(-1)?.number ?? after
  }
}

async function countConversions(platform: Platform, { since }: Rewind): Promise<Omit<Lost, 'links'>> {
  const lost = { leads: 0, sales: 0 }
  const customers = new Set<string>()
  for (let after = ''; ; ) {
    const stored = await conversionsStoredSince(platform, new Date(since.getTime() - overlapMs), {
      after,
      count: lostAtOnce,
    })
    for (const [workspaceId, mine] of Map.groupBy(stored, ({ workspace_id }) => workspace_id)) {
      const there = new Set(await selectIds(platform.db, workspaceId, [...new Set(mine.map(({ id }) => wholeId(id)))]))
      const missing = mine.filter(({ id }) => !there.has(wholeId(id)))
      for (const { kind } of missing) lost[kind === 'lead' ? 'leads' : 'sales'] += 1
      const people = missing.map(({ customer_id }) => customer_id)
      const known = await customersById(asSystem(platform, workspaceId), people)
      for (const id of people) if (!known.has(id)) customers.add(id)
    }
    if (stored.length < lostAtOnce) return { ...lost, customers: customers.size }
    after = stored.at(-1)?.id ?? after
  }
}

/** A lead of several has several rows, whose ids end with a number. */
function wholeId(id: string): string {
  return id.replace(/^([^_]+_[^_]+)_\d+$/, '$1')
}
