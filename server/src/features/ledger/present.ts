import { boundedSum } from '@tributary/contract/common'
import type { AccountBalance, Posting } from '@tributary/contract/ledger'
import type { Ctx } from '../../platform/context.ts'
import { formatAccount } from './accounts.ts'
import type { LedgerNames } from './names.ts'
import type { BalanceRow, PostingRow } from './store.ts'

export async function presentPostings(ctx: Ctx, names: LedgerNames, rows: PostingRow[]): Promise<Posting[]> {
  const partners = await names.partnerIds(ctx, known(rows.flatMap((row) => [row.debit_partner, row.credit_partner])))
  const commissions = await names.commissionIds(ctx, known(rows.map((row) => row.commission_number)))
  const payouts = await names.payoutIds(ctx, known(rows.map((row) => row.payout_number)))
  const find = (ids: Map<bigint, string>, number: bigint | null) => (number === null ? undefined : ids.get(number))
  return rows.map((row) => ({
    transaction: String(row.transaction),
    kind: row.kind as Posting['kind'],
    currency: row.currency,
    debit: formatAccount(row.debit_kind, find(partners, row.debit_partner)),
    credit: formatAccount(row.credit_kind, find(partners, row.credit_partner)),
    amount: boundedSum(row.amount),
    partnerId: find(partners, row.credit_partner ?? row.debit_partner) ?? null,
    commissionId: find(commissions, row.commission_number) ?? null,
    payoutId: find(payouts, row.payout_number) ?? null,
    createdAt: row.created_at.toISOString(),
  }))
}

export function presentBalance(row: Omit<BalanceRow, 'partner_number'>, partnerId?: string): AccountBalance {
  const { kind, currency, debit, credit } = row
  return {
    account: formatAccount(kind, partnerId),
    currency,
    debit: boundedSum(debit),
    credit: boundedSum(credit),
    balance: boundedSum(BigInt(debit) - BigInt(credit)),
  }
}

function known(numbers: (bigint | null)[]): bigint[] {
  return [...new Set(numbers.filter((number) => number !== null))]
}
