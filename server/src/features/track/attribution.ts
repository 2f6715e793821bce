export type AttributionModel = 'first-click' | 'last-click'
/** A click whose id has a valid signature, with the hour of the click. */
export type ClickSeen = { clickId: string; linkNumber: bigint; hour: number }
export type Attribution<Click extends ClickSeen = ClickSeen> =
  | { click: Click; reason: 'last_click' | 'first_click' | 'stored_click' }
  | { click: null; reason: 'outside_window' | 'no_click' }

/** Chooses the click of a lead, or of a sale without a lead: the request's click or the customer's first click. */
export function attribute<Click extends ClickSeen>(input: {
  given: Click | null
  /** The customer's first click, as stored with the customer. */
  stored: Click | null
  model: AttributionModel
  windowDays: number
  now: Date
}): Attribution<Click> {
  const { given, stored, model, windowDays, now } = input
  const earliest = Math.floor(now.getTime() / hourMs) - windowDays * 24
  const isInside = (click: Click | null): click is Click => click !== null && click.hour >= earliest
  if (model === 'first-click' && isInside(stored)) {
    return { click: stored, reason: given && given.clickId !== stored.clickId ? 'first_click' : 'stored_click' }
  }
  if (isInside(given)) return { click: given, reason: 'last_click' }
  if (isInside(stored)) return { click: stored, reason: 'stored_click' }
  return { click: null, reason: given || stored ? 'outside_window' : 'no_click' }
}

const hourMs = 3_600_000
