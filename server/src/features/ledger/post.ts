import type { Db } from '../../platform/postgres.ts'
import {
  type AccountChange,
  type AccountKind,
  type AccountRow,
  addToBalances,
  insertAccounts,
  insertPostings,
  insertSums,
  type KindChange,
  type NewAccount,
  type NewPosting,
  selectAccounts,
} from './store.ts'

/** An account of a partner, or of the whole program without `partnerNumber`. */
export type AccountName = { kind: AccountKind; partnerNumber: bigint | null }
export type PostingKind = 'earned' | 'corrected' | 'reversed' | 'restored' | 'matured' | 'returned' | 'merged'
/** Moves an amount from the debit to the credit account. A negative amount moves it the other way round. */
export type Entry = {
  kind: PostingKind
  currency: string
  debit: AccountName
  credit: AccountName
  amount: bigint
  commissionNumber?: bigint
  payoutNumber?: bigint
}

/** Accounts whose balance is stored. The others belong to the whole program, where all writers would meet. */
const withBalance: AccountKind[] = ['accrued', 'due', 'clearing']

/** Posts entries as one ledger transaction. Call it in a transaction that has locked the partners' rows. */
export async function postEntries(db: Db, workspaceId: string, entries: Entry[]): Promise<void> {
  const moved = entries.map(withPositiveAmount).flatMap(splitAmount)
  if (moved.length === 0) return
  const accounts = await findAccounts(db, workspaceId, moved)
  const find = (name: AccountName, currency: string) =>
    accounts.get(accountKey(nameAccount(name, currency))) as AccountRow
  const postings = moved.map((entry): NewPosting => {
    const { kind, currency, amount, commissionNumber = null, payoutNumber = null } = entry
    const [debit, credit] = [find(entry.debit, currency).number, find(entry.credit, currency).number]
    return { kind, currency, debit, credit, amount, commission_number: commissionNumber, payout_number: payoutNumber }
  })
  await insertPostings(db, workspaceId, postings)
  await addToBalances(db, sumByAccount(postings, [...accounts.values()]))
  await insertSums(db, workspaceId, sumByKind(moved))
}

function withPositiveAmount(entry: Entry): Entry {
  if (entry.amount > 0n) return entry
  return { ...entry, debit: entry.credit, credit: entry.debit, amount: -entry.amount }
}

const mostPosted = 9_000_000_000_000_000_000n

/** A posting holds 64 bits: a larger amount, such as the sum of many commissions, becomes several, and 0 becomes none. */
function splitAmount(entry: Entry): Entry[] {
  const parts: Entry[] = []
  for (let left = entry.amount; left > 0n; left -= mostPosted)
    parts.push({ ...entry, amount: left < mostPosted ? left : mostPosted })
  return parts
}

async function findAccounts(db: Db, workspaceId: string, entries: Entry[]): Promise<Map<string, AccountRow>> {
  const named = new Map<string, NewAccount>()
  for (const { debit, credit, currency } of entries) {
    for (const name of [debit, credit]) {
      const account = nameAccount(name, currency)
      named.set(accountKey(account), account)
    }
  }
  const found = new Map<string, AccountRow>()
  const load = async (accounts: NewAccount[]) => {
    for (const row of await selectAccounts(db, workspaceId, accounts)) found.set(accountKey(row), row)
  }
  await load([...named.values()])
  const missing = [...named].flatMap(([key, account]) => (found.has(key) ? [] : [account]))
  if (missing.length > 0) {
    await insertAccounts(db, workspaceId, missing)
    await load(missing)
  }
  return found
}

function nameAccount({ kind, partnerNumber }: AccountName, currency: string): NewAccount {
  return { kind, partner_number: partnerNumber, currency }
}

function accountKey({ kind, partner_number, currency }: NewAccount): string {
  return `${kind} ${partner_number} ${currency}`
}

function sumByAccount(postings: NewPosting[], accounts: AccountRow[]): AccountChange[] {
  const kinds = new Map(accounts.map(({ number, kind }) => [number, kind]))
  const sums = new Map<bigint, AccountChange>()
  const add = (account: bigint, side: 'debit' | 'credit', amount: bigint) => {
    if (!withBalance.includes(kinds.get(account) as AccountKind)) return
    const sum = sums.get(account) ?? { account, debit: 0n, credit: 0n }
    sum[side] += amount
    sums.set(account, sum)
  }
  for (const { debit, credit, amount } of postings) {
    add(debit, 'debit', amount)
    add(credit, 'credit', amount)
  }
  return [...sums.values()]
}

function sumByKind(entries: Entry[]): KindChange[] {
  const sums = new Map<string, KindChange>()
  for (const { debit, credit, currency, amount } of entries) {
    for (const [side, { kind }] of [['debit', debit] as const, ['credit', credit] as const]) {
      const sum = sums.get(`${kind} ${currency}`) ?? { kind, currency, debit: 0n, credit: 0n }
      sum[side] += amount
      sums.set(`${kind} ${currency}`, sum)
    }
  }
  return [...sums.values()]
}
