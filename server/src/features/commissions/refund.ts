import { roundShare } from '../money/service.ts'
import { rewardAfterRefund } from '../rewards/service.ts'
import type { Commission, Detail } from './commission.ts'

/** A sale with the part of its amount that is left, in the sale's currency. */
export type SaleLeft = { amount: bigint; left: bigint }

/** The amount of a commission, in the program's currency, when only a part of its sale is left. */
export function amountLeft({ amount, detail }: Pick<Commission, 'amount' | 'detail'>, sale: SaleLeft): bigint {
  if (sale.left <= 0n) return 0n
  const { edit, why } = detail
  if (edit) return share(BigInt(edit.amount), sale.left, BigInt(edit.of))
  return share(why ? BigInt(why.event.amount) : amount, sale.left, sale.amount)
}

/** What a commission earns when only `left` of its amount is left. */
export function earningsFor({ earnings, detail }: Pick<Commission, 'earnings' | 'detail'>, left: bigint): bigint {
  const { edit, why } = detail
  if (left <= 0n) return 0n
  if (edit?.earnings != null) return share(BigInt(edit.earnings), left, BigInt(edit.amount))
  return why ? recompute(why, left) : earnings
}

/** A lead and a click have no amount that could shrink: their reward is flat. */
function recompute(why: NonNullable<Detail['why']>, left: bigint): bigint {
  return why.event.kind === 'sale' ? rewardAfterRefund(why, left) : BigInt(why.earnings)
}

function share(amount: bigint, part: bigint, whole: bigint): bigint {
  return part === whole || whole <= 0n ? amount : roundShare(amount, part, whole)
}
