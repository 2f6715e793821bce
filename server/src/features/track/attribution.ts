import type { AttributionReason } from '@tributary/contract/events'

export type AttributionModel = 'first-click' | 'last-click'
/** A click whose id has a valid signature, with the hour of the click. */
export type ClickSeen = { clickId: string; linkNumber: bigint; hour: number }
export type Attribution<Click extends ClickSeen = ClickSeen> =
  | { click: Click; reason: 'last_click' | 'first_click' | 'stored_click' }
  | { click: null; code: AttributedCode; reason: 'discount_code' }
  | { click: null; reason: 'outside_window' | 'no_click' }
/** A discount code: its link and partner, and whether it comes before a click. */
export type AttributedCode = { linkNumber: bigint; partnerId: string; wins: boolean }

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

/** Attributes to a discount code where no click is attributable, or where the code comes before the click. */
export function preferCode<Click extends ClickSeen>(
  attribution: Attribution<Click>,
  code: AttributedCode | null,
): Attribution<Click> {
  return code && takesOver(code, attribution.click?.linkNumber ?? null)
    ? { click: null, code, reason: 'discount_code' }
    : attribution
}

/** Whether a code is attributed instead of a click, or lead, on this link. */
export function takesOver({ linkNumber, wins }: AttributedCode, clicked: bigint | null): boolean {
  return clicked === null || (wins && clicked !== linkNumber)
}

const hourMs = 3_600_000

/** How a stored event got its link, or why not. Earlier releases stored `lead` for a sale whose lead has no link. */
export function readReason(row: { attribution: string; link_number: bigint | null }): AttributionReason {
  const reason = row.attribution as AttributionReason
  return row.link_number === null && reason === 'lead' ? 'outside_window' : reason
}

/** The shortest attribution window, in days, that includes a click of this hour. */
export function neededDays(clickHour: number, at: Date): number {
  return Math.max(1, Math.ceil((Math.floor(at.getTime() / hourMs) - clickHour) / 24))
}
