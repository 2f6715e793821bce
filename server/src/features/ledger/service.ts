import type { AccountBalance, LedgerExportQuery, Posting, PostingsQuery } from '@tributary/contract/ledger'
import { z } from 'zod'
import type { Ctx, Platform } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import type { Db } from '../../platform/postgres.ts'
import { seal, unseal } from '../../platform/seal.ts'
import { exportLines } from './export.ts'
import type { LedgerNames } from './names.ts'
import { type Entry, postEntries } from './post.ts'
import { presentBalance, presentPostings } from './present.ts'
import {
  type AccountDifference,
  foldSums,
  type PostingPosition,
  selectCommissionPostings,
  selectDifferentBalances,
  selectDifferentSums,
  selectKindSums,
  selectOwed,
  selectPartnerBalances,
  selectPostings,
} from './store.ts'

export type LedgerEntry = Entry
export type LedgerDifference = AccountDifference

/**
 * Posts entries as one ledger transaction: creates missing accounts, inserts the postings and updates the balances.
 * Call it in a transaction that has locked the rows of the entries' partners.
 */
export function post(db: Db, workspaceId: string, entries: LedgerEntry[]): Promise<void> {
  return postEntries(db, workspaceId, entries)
}

export type PartnerBalance = { partnerNumber: bigint; kind: 'accrued' | 'due'; currency: string; owed: bigint }

/** What the program owes partners: accrued, and due in an open payout. */
export async function partnerBalances(db: Db, workspaceId: string, numbers: bigint[]): Promise<PartnerBalance[]> {
  const rows = await selectPartnerBalances(db, workspaceId, numbers)
  return rows.map(({ partner_number, kind, currency, debit, credit }) => {
    const owed = BigInt(credit) - BigInt(debit)
    return { partnerNumber: partner_number as bigint, kind: kind as PartnerBalance['kind'], currency, owed }
  })
}

/** Lists postings; `next` is the cursor of the next page. */
export async function listPostings(ctx: Ctx, names: LedgerNames, query: PostingsQuery) {
  const { kind, pageSize: count, cursor } = query
  const partnerNumber = await names.findPartner(ctx, query.partnerId)
  const after = cursor === undefined ? undefined : readCursor(ctx, cursor)
  const filter = { partnerNumber, kind, ...parsePeriod(query) }
  const offset = after ? 0 : Math.min(mostSkipped, (query.page - 1) * count)
  const page = { ascending: query.sortOrder === 'asc', after, offset, count: count + 1 }
  const rows = await selectPostings(ctx.db, ctx.workspaceId, filter, page)
  const shown = rows.slice(0, count)
  const last = rows.length > count ? shown.at(-1) : undefined
  const postings: Posting[] = await presentPostings(ctx, names, shown)
  return { postings, next: last && writeCursor(ctx, { at: last.at, number: String(last.number) }) }
}

/** What the newest thousand postings of a commission added to what is owed to its partner, oldest first. */
export async function postingsOfCommission(ctx: Pick<Ctx, 'db' | 'workspaceId'>, commissionNumber: bigint) {
  const rows = await selectCommissionPostings(ctx.db, ctx.workspaceId, commissionNumber, mostExplained)
  return rows.map(({ kind, owed, created_at }) => ({ kind, amount: owed, createdAt: created_at }))
}

const mostExplained = 1_000
// Skipped postings are read, so a page far behind needs the cursor.
const mostSkipped = 100_000

export async function getBalances(
  ctx: Ctx,
  names: LedgerNames,
  partnerId: string | undefined,
): Promise<AccountBalance[]> {
  const number = await names.findPartner(ctx, partnerId)
  if (number === undefined) {
    const sums = await selectKindSums(ctx.db, ctx.workspaceId)
    return sums.map((row) => presentBalance(row))
  }
  const rows = await selectPartnerBalances(ctx.db, ctx.workspaceId, [number])
  return rows.map((row) => presentBalance(row, partnerId))
}

export async function exportLedger(ctx: Ctx, names: LedgerNames, query: LedgerExportQuery) {
  await names.findPartner(ctx, undefined)
  return exportLines(ctx, names, query, parsePeriod(query))
}

function parsePeriod({ start, end }: { start?: string; end?: string }): { from?: Date; until?: Date } {
  return { ...(start && { from: new Date(start) }), ...(end && { until: new Date(end) }) }
}

const position = z.object({ at: z.string(), number: z.string() })

function writeCursor(ctx: Ctx, last: PostingPosition): string {
  return seal(ctx.config.ENCRYPTION_KEYS, cursorPurpose(ctx), JSON.stringify(last)).toString('base64url')
}

function readCursor(ctx: Ctx, text: string): PostingPosition {
  try {
    const opened = unseal(ctx.config.ENCRYPTION_KEYS, cursorPurpose(ctx), Buffer.from(text, 'base64url'))
    return position.parse(JSON.parse(opened))
  } catch {
    throw invalid('`cursor` in the query does not come from this list. Pass the cursor back unchanged.')
  }
}

function cursorPurpose({ workspaceId }: Ctx): string {
  return `ledger postings ${workspaceId}`
}

/** What is owed to partners of any workspace, accrued and due. */
export function owedToPartners({ db }: Pick<Platform, 'db'>, partnerNumbers: bigint[]) {
  return selectOwed(db, partnerNumbers)
}

/** Adds the sums that each posting transaction appended together, one workspace and day at a time. */
export async function foldLedgerSums({ db }: Pick<Platform, 'db'>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await foldSums(db)));
}

/** Balances among some thousand accounts that differ from the postings; `last` is null after the last account. */
export function differentBalances(
  { db }: Pick<Platform, 'db'>,
  range: { after: bigint; count: number; workspaceId?: string },
): Promise<{ last: bigint | null; rows: LedgerDifference[] }> {
  return selectDifferentBalances(db, range)
}

/** Sums by kind of account that differ from the postings. */
export async function differentSums({ db }: Pick<Platform, 'db'>, workspaceId?: string): Promise<LedgerDifference[]> {
  const rows = await selectDifferentSums(db, workspaceId)
  return rows.map((row) => ({ ...row, partner_number: null }))
}
