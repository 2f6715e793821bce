import { boundedSum } from '@tributary/contract/common'

type Sums = { month: string; kind: string; currency: string; debit: string; credit: string }
/** What was posted to all accounts of a kind in a month, with the balances before and after it. */
export type TrialBalance = {
  month: string
  account: string
  currency: string
  opening: number
  debit: number
  credit: number
  closing: number
}

/** Carries balances over from month to month. An account without postings in a month has a line as long as it has a balance. */
export function closeMonths<Row extends Sums>(rows: Row[], formatAccount: (row: Row) => string): TrialBalance[] {
  const closed = new Map<string, { row: Row; balance: bigint }>()
  const found: TrialBalance[] = []
  for (const [month, mine] of Map.groupBy(rows, (row) => row.month)) {
    const posted = new Map(mine.map((row) => [`${row.kind} ${row.currency}`, row]))
    for (const key of [...new Set([...closed.keys(), ...posted.keys()])].sort()) {
      const before = closed.get(key)
      const row = posted.get(key)
      const shown = (row ?? before?.row) as Row
      const [debit, credit] = [BigInt(row?.debit ?? 0), BigInt(row?.credit ?? 0)]
      const opening = before?.balance ?? 0n
      const closing = opening + debit - credit
      closed.set(key, { row: shown, balance: closing })
      if (!row && opening === 0n) continue
      found.push({
        month,
        account: formatAccount(shown),
        currency: shown.currency,
        opening: boundedSum(opening),
        debit: boundedSum(debit),
        credit: boundedSum(credit),
        closing: boundedSum(closing),
      })
    }
  }
  return found
}
