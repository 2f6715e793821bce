import type { LedgerExportQuery, Posting } from '@tributary/contract/ledger'
import type { Ctx } from '../../platform/context.ts'
import { csvLine } from '../../platform/csv.ts'
import { formatDecimal } from '../money/service.ts'
import { formatAccount } from './accounts.ts'
import type { LedgerNames } from './names.ts'
import { presentPostings } from './present.ts'
import { type MonthRow, type PostingPosition, selectMonths, selectPostings } from './store.ts'
import { closeMonths, type TrialBalance } from './trial-balance.ts'

const rowsAtOnce = 1_000
type Period = { from?: Date; until?: Date }

/** Streams the ledger, a thousand postings at a time. */
export async function* exportLines(
  ctx: Ctx,
  names: LedgerNames,
  { format, report }: LedgerExportQuery,
  period: Period,
): AsyncGenerator<string> {
  if (format === 'beancount') return yield* exportBeancount(ctx, names, period)
  if (report === 'trial-balance') {
    const months = (await readTrialBalances(ctx)).filter((row) => isWithin(row.month, period))
    yield format === 'csv' ? csvLine(balanceColumns) : ''
    for (const row of months)
      yield format === 'csv' ? csvLine(balanceColumns.map((column) => row[column])) : `${JSON.stringify(row)}\n`
    return
  }
  if (format === 'csv') yield csvLine(columns)
  for await (const postings of readAll(ctx, names, period)) {
    yield postings.map((row) => (format === 'csv' ? csvLine(columns.map((name) => row[name])) : jsonLine(row))).join('')
  }
}

const columns = [
  ...(['createdAt', 'transaction', 'kind', 'debit', 'credit', 'amount', 'currency'] as const),
  ...(['partnerId', 'commissionId', 'payoutId'] as const),
]
const balanceColumns = ['month', 'account', 'currency', 'opening', 'debit', 'credit', 'closing'] as const

function jsonLine(row: object): string {
  return `${JSON.stringify(row)}\n`
}

async function* readAll(ctx: Ctx, names: LedgerNames, period: Period): AsyncGenerator<Posting[]> {
  for (let after: PostingPosition | undefined; ; ) {
    const page = { ascending: true, after, offset: 0, count: rowsAtOnce }
    const rows = await selectPostings(ctx.db, ctx.workspaceId, period, page)
    if (rows.length > 0) yield presentPostings(ctx, names, rows)
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce) return
    after = { at: last.at, number: String(last.number) }
  }
}

async function readTrialBalances(ctx: Ctx): Promise<TrialBalance[]> {
  const rows = await selectMonths(ctx.db, ctx.workspaceId)
  return closeMonths(rows, (row: MonthRow) => formatAccount(row.kind, undefined))
}

function isWithin(month: string, { from, until }: Period): boolean {
  const first = new Date(`${month}-01T00:00:00Z`)
  const next = nextMonth(month)
  return (!from || next > from) && (!until || first < until)
}

function nextMonth(month: string): Date {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 1))
}

/** Writes a beancount file. Balance assertions prove each month's sums of expenses and of what is owed to partners. */
async function* exportBeancount(ctx: Ctx, names: LedgerNames, period: Period): AsyncGenerator<string> {
  const balances = await readTrialBalances(ctx)
  const assertions = period.from
    ? []
    : monthlyAssertions(balances).filter(({ day }) => !period.until || day <= period.until)
  yield 'option "title" "Partner program"\n'
  const opened = new Set<string>()
  const takeUntil = (day: string) => {
    const count = assertions.findIndex((assertion) => dayText(assertion.day) > day)
    return assertions
      .splice(0, count === -1 ? assertions.length : count)
      .map(({ text }) => text)
      .join('')
  }
  for await (const postings of readAll(ctx, names, period)) {
    let text = ''
    for (const row of postings) {
      const day = row.createdAt.slice(0, 10)
      text += takeUntil(day)
      for (const account of ['Liabilities:Partners', row.debit, row.credit]) {
        if (!opened.has(account)) text += `${day} open ${account}\n`
        opened.add(account)
      }
      text += beancountEntry(row, day)
    }
    yield text
  }
  yield takeUntil(dayText(ctx.now()))
}

function dayText(day: Date): string {
  return day.toISOString().slice(0, 10)
}

function beancountEntry(row: Posting, day: string): string {
  const currency = row.currency.toUpperCase()
  const amount = formatDecimal({ amount: BigInt(row.amount), currency: row.currency })
  const about = [
    ['transaction', row.transaction],
    ['commission', row.commissionId],
    ['payout', row.payoutId],
  ].flatMap(([name, value]) => (value ? [`  ${name}: "${value}"\n`] : []))
  return `${day} * "${row.kind}"\n${about.join('')}  ${row.debit}  ${amount} ${currency}\n  ${row.credit}  -${amount} ${currency}\n`
}

/** Sums of a month's end, as assertions at the start of the next month; parent accounts include those below them. */
function monthlyAssertions(balances: TrialBalance[]): { day: Date; text: string }[] {
  return [...Map.groupBy(balances, ({ month, currency }) => `${month} ${currency}`)].map(([key, rows]) => {
    const [month = '', currency = ''] = key.split(' ')
    const day = nextMonth(month)
    const owed = rows.filter(({ account }) => account.startsWith('Liabilities:Partners'))
    const others = rows.filter((row) => !owed.includes(row))
    const sum = owed.reduce((total, { closing }) => total + BigInt(closing), 0n)
    const line = (account: string, amount: bigint) =>
      `${dayText(day)} balance ${account}  ${formatDecimal({ amount, currency })} ${currency.toUpperCase()}\n`
    const lines = others.map(({ account, closing }) => line(account, BigInt(closing)))
    return { day, text: [...lines, ...(owed.length > 0 ? [line('Liabilities:Partners', sum)] : [])].join('') }
  })
}
