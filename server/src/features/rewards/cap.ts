import type { Cap, RewardEvent, RewardVersion } from './terms.ts'

/** The row that counts earnings against a cap, together with the number of the reward. */
export type CapKey = { scope: string; periodStart: Date }

/** Which row counts the event's earnings; null when the reward has no cap. */
export function capKey(
  { terms: { cap } }: Pick<RewardVersion, 'terms'>,
  { at }: Pick<RewardEvent, 'at'>,
  who: { partnerNumber: bigint; customerId: string | null; groupNumber: bigint },
): CapKey | null {
  if (!cap) return null
  const scopes: Record<Cap['scope'], string> = {
    partner: `partner:${who.partnerNumber}`,
    customer: `customer:${who.partnerNumber}:${who.customerId ?? ''}`,
    group: `group:${who.groupNumber}`,
    program: 'program',
  }
  // The first day of a month, and a Monday, begin periods of several intervals, which are counted apart.
  return { scope: `${cap.interval}:${scopes[cap.scope]}`, periodStart: periodStart(cap.interval, at) }
}

/** How much of the cap is left. */
export function remainingCap({ amount }: Pick<Cap, 'amount'>, spent: bigint): bigint {
  return spent >= amount ? 0n : amount - spent
}

/** The start of the period in UTC; a week begins on Monday. */
function periodStart(interval: Cap['interval'], at: Date): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()]
  switch (interval) {
    case 'day':
      return new Date(Date.UTC(year, month, day))
    case 'week':
      return new Date(Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)))
    case 'month':
      return new Date(Date.UTC(year, month, 1))
    case 'allTime':
      return new Date(0)
  }
}
