import { proportion } from './journey-money.ts'
import type { StoredCommission } from './journey-store.ts'
import { modelRecompute, modelRefund } from './model.ts'

/** What a commission earns according to its stored explanation alone, by the plain model. */
export function explainedEarnings({ type, amount, earnings, detail }: StoredCommission): bigint {
  const { why, edit, clawback } = detail ?? {}
  if (edit?.earnings != null) return proportion(BigInt(edit.earnings), amount, BigInt(edit.amount))
  if (clawback) return BigInt(clawback.after) - BigInt(clawback.before)
  if (!why) return earnings
  return type === 'sale' ? modelRefund(why, amount) : modelRecompute(why)
}
