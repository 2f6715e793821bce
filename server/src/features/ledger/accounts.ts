import type { AccountKind } from './store.ts'

const programAccounts: Record<AccountKind, string> = {
  expense: 'Expenses:Commissions',
  accrued: 'Liabilities:Partners:Accrued',
  due: 'Liabilities:Partners:Due',
  clearing: 'Assets:Clearing',
  cash: 'Assets:Cash',
  fee: 'Expenses:Fees',
  writeoff: 'Income:Writeoffs',
}

/** The name of an account in the form that beancount accepts: each part begins with a capital letter or a digit. */
export function formatAccount(kind: AccountKind, partnerId: string | undefined): string {
  if (partnerId === undefined) return programAccounts[kind]
  const name = partnerId.replace(/^pn_/, 'PN-').replaceAll(/[^A-Za-z0-9-]/g, '-')
  return `Liabilities:Partners:${name}:${kind[0]?.toUpperCase()}${kind.slice(1)}`
}
