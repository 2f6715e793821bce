import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/** Why an event belongs to its link, or to none. */
export const attributionNames: Record<string, MessageDescriptor> = {
  last_click: msg`The click that came with the event`,
  first_click: msg`The customer’s first click`,
  stored_click: msg`A click that was known before`,
  lead: msg`The click of the lead`,
  discount_code: msg`A partner’s discount code`,
  by_hand: msg`Recorded by hand`,
  outside_window: msg`None: the click was too long ago`,
  no_click: msg`None: no click is known`,
}
