import type { AttributionReason } from '@tributary/contract/events'

const longestWindow = 3_650
const explanations: Record<Exclude<AttributionReason, 'outside_window'>, string> = {
  last_click: 'Attributed to the click of the request, which was within the attribution window.',
  first_click: 'Attributed to the first click of the customer, because the attribution model is first-click.',
  stored_click: 'Attributed to the first click of the customer, which was within the attribution window.',
  lead: 'Attributed to the link of the lead that the sale follows.',
  discount_code: 'Attributed to the link of the discount code.',
  by_hand: 'Attributed by hand, with a commission.',
  no_click: 'Not attributed: there is no click of the customer.',
}

/** The reason of an attribution in a sentence, and what to do about it. `needed` is the window that the click needs. */
export function describeAttribution(
  reason: AttributionReason,
  windowDays: number,
  needed: number | undefined,
): { explanation: string; remedy: string | null } {
  if (reason === 'no_click') return { explanation: explanations.no_click, remedy: sendClick }
  if (reason !== 'outside_window') return { explanation: explanations[reason], remedy: null }
  if (needed !== undefined && needed <= windowDays) {
    const explanation = `Not attributed: the click was older than the attribution window, which is longer today: ${windowDays} days.`
    return { explanation, remedy: null }
  }
  const explanation = `Not attributed: the click is older than the attribution window of ${windowDays} days.`
  return { explanation, remedy: needed !== undefined && needed > longestWindow ? null : lengthen(needed) }
}

const sendClick = 'Send `clickId` with the lead: the cookie `trib_id` of the tracking script has it.'

function lengthen(needed: number | undefined): string {
  const length = needed === undefined ? 'a longer window' : `${needed} days or more`
  return `Set \`attributionDays\` of the workspace to ${length}. Later events are then attributed; recorded ones stay as they are.`
}
