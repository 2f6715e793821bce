import { type ConversionFate, commissionSums, conversionFates, payoutSums } from '../features/commissions/service.ts'
import { storedSaleAmounts } from '../features/event-storage/service.ts'
import { differentBalances, differentSums, owedToPartners } from '../features/ledger/service.ts'
import { findPartnersById, lockManyPartners, numberedPartners, totalsByPartner } from '../features/partners/service.ts'
import { payoutsOfPartners } from '../features/payouts/service.ts'
import { partnerConversions } from '../features/track/service.ts'
import { sleep } from '../platform/clock.ts'
import { transaction } from '../platform/postgres.ts'
import { compare, type Handles } from './compare.ts'

/** Two figures of the partner program's money that must be equal and are not. */
export type MoneyFinding = {
  workspaceId: string
  partnerId: string | null
  /** Which figures: the ledger's balance of an account, a payout, a partner's total, or an event. */
  what: string
  expected: string
  found: string
}
type Options = { workspaceId?: string; partnersAtOnce?: number }
type Numbered = MoneyFinding & { number: bigint }

const partnersAtOnce = 2_000
const accountsAtOnce = 10_000
const conversionsAtOnce = 2_000
const undecidedAfterMs = 60_000
const recheckAfterMs = 3_000

/** Compares ledger, commissions, payouts, partner totals and sales with each other. */
export async function verifyMoney(platform: Handles, options: Options): Promise<MoneyFinding[]> {
  return [
    ...(await verifyLedger(platform, options)),
    ...(await verifyPartners(platform, options)),
    ...(await verifyDecisions(platform, options)),
  ]
}

/** Each balance is the sum of its postings. A posting has a debit and a credit, so all postings balance. */
async function verifyLedger(platform: Handles, { workspaceId }: Options): Promise<MoneyFinding[]> {
  const rows = await differentSums(platform, workspaceId)
  for (let after: bigint | null = 0n; after !== null; ) {
    const part = await differentBalances(platform, { after, count: accountsAtOnce, workspaceId })
    rows.push(...part.rows)
    after = part.last
  }
  const numbers = rows.flatMap(({ partner_number }) => partner_number ?? [])
  const partners = new Map((await numberedPartners(platform, { numbers })).map(({ number, id }) => [number, id]))
  return rows.map((row) => ({
    workspaceId: row.workspace_id,
    partnerId: row.partner_number === null ? null : (partners.get(row.partner_number) ?? null),
    what: `${row.kind} balance in the ledger, and the postings`,
    expected: row.posted,
    found: row.balance ?? '0',
  }))
}

/** What is owed by ledger, commissions and payouts is equal for each partner; differences are read again under locks. */
async function verifyPartners(platform: Handles, options: Options): Promise<MoneyFinding[]> {
  const count = options.partnersAtOnce ?? partnersAtOnce
  const read = async (platform: Handles, after: bigint, suspects?: Numbered[]) => {
    const numbers = suspects?.map(({ number }) => number)
    const range = numbers ? { numbers } : { workspaceId: options.workspaceId, after, count }
    const partners = await numberedPartners(platform, range)
    const next = partners.length < count ? undefined : partners.at(-1)?.number
    return { findings: await comparePartners(platform, partners), percent: 0, next: suspects ? undefined : next }
  }
  const findings: MoneyFinding[] = []
  const comparison = {
    first: 0n,
    read,
    findBucket: ({ number, what }: Numbered) => `${number} ${what}`,
    pause: <Result>(
      platform: Handles,
      suspects: Numbered[],
      work: (platform: Handles, isLocked: boolean) => Promise<Result>,
    ) =>
      transaction(platform, async (platform) => {
        for (const [workspaceId, mine] of Map.groupBy(suspects, (suspect) => suspect.workspaceId)) {
          await lockManyPartners(
            platform.db,
            workspaceId,
            mine.map(({ number }) => number),
          )
        }
        return work(platform, true)
      }),
    repair: async (_: Handles, findings: Numbered[]) => findings,
  }
  for await (const part of compare(platform, comparison, false))
    findings.push(...part.findings.map(({ number, ...finding }): MoneyFinding => finding))
  return findings
}

async function comparePartners(
  platform: Handles,
  partners: { number: bigint; id: string; workspace_id: string }[],
): Promise<Numbered[]> {
  const numbers = partners.map(({ number }) => number)
  if (numbers.length === 0) return []
  const owed = new Map(
    (await owedToPartners(platform, numbers)).map((row) => [`${row.partner_number} ${row.kind}`, row.owed]),
  )
  const sums = await commissionSums(platform, numbers)
  const payouts = await payoutsOfPartners(platform, numbers)
  const inPayouts = await payoutSums(
    platform,
    payouts.map(({ number }) => number),
  )
  const totals = new Map<bigint, bigint>()
  for (const [workspaceId, mine] of Map.groupBy(partners, (partner) => partner.workspace_id)) {
    const found = await totalsByPartner(
      { db: platform.db, workspaceId },
      mine.map(({ number }) => number),
    )
    for (const [number, { commissions }] of found) totals.set(number, commissions)
  }
  const byPartner = Map.groupBy(payouts, ({ partner_number }) => partner_number)
  return partners.flatMap(({ number, id, workspace_id }) => {
    const mine = byPartner.get(number) ?? []
    const due = mine.filter(({ status }) => status === 'pending' || status === 'failed')
    const pairs: [string, string, string][] = [
      [
        'accrued in the ledger, and pending and held commissions',
        sums.get(number)?.accrued ?? '0',
        owed.get(`${number} accrued`) ?? '0',
      ],
      [
        'due in the ledger, and pending and failed payouts',
        String(due.reduce((sum, { amount }) => sum + amount, 0n)),
        owed.get(`${number} due`) ?? '0',
      ],
      [
        "total of the partner's commissions, and the commissions",
        sums.get(number)?.counted ?? '0',
        String(totals.get(number) ?? 0n),
      ],
      ...mine.map((payout): [string, string, string] => [
        `payout po_${payout.id}, and its commissions`,
        inPayouts.get(payout.number) ?? '0',
        String(payout.amount),
      ]),
    ]
    return pairs
      .filter(([, expected, found]) => expected !== found)
      .map(([what, expected, found]) => ({ number, workspaceId: workspace_id, partnerId: id, what, expected, found }))
  })
}

type PartnerConversion = Awaited<ReturnType<typeof partnerConversions>>[number]

/** Each lead, sale and refund of a partner is queued or decided, and a rewarded sale has the amount in ClickHouse. */
async function verifyDecisions(platform: Handles, { workspaceId }: Options): Promise<MoneyFinding[]> {
  const findings: MoneyFinding[] = []
  for (let after = 0n; ; ) {
    const conversions = await partnerConversions(platform, { workspaceId, after, count: conversionsAtOnce })
    if (conversions.length > 0) findings.push(...(await compareEvents(platform, conversions)))
    const last = conversions.at(-1)
    if (!last || conversions.length < conversionsAtOnce) return findings
    after = last.number
  }
}

async function compareEvents(platform: Handles, conversions: PartnerConversion[]): Promise<MoneyFinding[]> {
  const fates = await readFates(platform, conversions)
  const known = new Set<string>()
  for (const [workspaceId, mine] of Map.groupBy(conversions, (conversion) => conversion.workspace_id)) {
    const ids = mine.flatMap(({ partner_id }) => partner_id ?? [])
    for (const id of (await findPartnersById({ db: platform.db, workspaceId }, ids)).keys()) known.add(id)
  }
  const ofPartners = conversions.filter(({ partner_id }) => known.has(partner_id ?? ''))
  const stored = await readStored(platform, ofPartners, fates)
  return ofPartners.flatMap((conversion) => {
    const { number, id, kind, workspace_id, partner_id } = conversion
    const fate = fates.get(number)
    const about = { workspaceId: workspace_id, partnerId: partner_id }
    const problems: MoneyFinding[] = []
    const isRewarded = fate?.is_decided && fate.reason === null && kind !== 'refund'
    if (!fate?.is_decided) {
      const isYoung = fate?.is_queued && Date.now() - conversion.created_at.getTime() < undecidedAfterMs
      const found = fate?.is_queued ? 'queued' : 'neither queued nor decided'
      if (!isYoung) problems.push({ ...about, what: `${kind} ${id}`, expected: 'decided', found })
    } else if (isRewarded && fate.commissions !== 1) {
      problems.push({ ...about, what: `commissions of ${kind} ${id}`, expected: '1', found: String(fate.commissions) })
    }
    const inClickHouse = stored.get(id)
    if (isRewarded && kind === 'sale' && inClickHouse !== undefined && fate.amount !== inClickHouse)
      problems.push({
        ...about,
        what: `commission of sale ${id}, and ClickHouse`,
        expected: inClickHouse,
        found: fate.amount ?? 'none',
      })
    return problems
  })
}

/** Reads what became of events; waits once for those that are queued, so that a worker can decide them. */
async function readFates(platform: Handles, conversions: PartnerConversion[]): Promise<Map<bigint, ConversionFate>> {
  const read = async (numbers: bigint[]) => conversionFates(platform, numbers)
  const fates = new Map((await read(conversions.map(({ number }) => number))).map((fate) => [fate.number, fate]))
  const undecided = [...fates.values()].filter(({ is_decided }) => !is_decided).map(({ number }) => number)
  if (undecided.length > 0) {
    await sleep(recheckAfterMs)
    for (const fate of await read(undecided)) fates.set(fate.number, fate)
  }
  return fates
}

/** The amounts of exported sales in ClickHouse. A sale that ClickHouse lacks is a finding of the links. */
function readStored(
  platform: Handles,
  conversions: PartnerConversion[],
  fates: Map<bigint, ConversionFate>,
): Promise<Map<string, string>> {
  const sales = conversions.filter(
    ({ kind, stored_at, number }) => kind === 'sale' && stored_at !== null && fates.get(number)?.commissions,
  )
  return storedSaleAmounts(
    platform,
    sales.map(({ id, workspace_id, created_at }) => ({ id, workspaceId: workspace_id, at: created_at.getTime() })),
  )
}
