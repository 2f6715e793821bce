import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Trigger } from '@tributary/contract/webhooks'
import type { TriggerGroup } from './triggers.ts'

export const groupNames: Record<TriggerGroup, MessageDescriptor> = {
  links: msg`Links`,
  conversions: msg`Leads and sales`,
  partners: msg`Partners`,
  commissions: msg`Commissions and discount codes`,
}

/** What happens when a trigger fires. */
export const triggerNames: Record<Trigger, MessageDescriptor> = {
  'link.created': msg`A link is created`,
  'link.updated': msg`A link is changed`,
  'link.deleted': msg`A link is deleted`,
  'link.clicked': msg`A person opens a link`,
  'lead.created': msg`A lead is tracked`,
  'sale.created': msg`A sale is tracked`,
  'sale.refunded': msg`A sale is refunded`,
  'partner.application_submitted': msg`Somebody applies as a partner`,
  'partner.enrolled': msg`A partner joins`,
  'partner.updated': msg`A partner is changed`,
  'partner.merged': msg`Two partners are merged`,
  'commission.created': msg`A commission is created`,
  'commission.updated': msg`A commission is changed`,
  'discount_code.created': msg`A discount code is created`,
  'discount_code.deleted': msg`A discount code is deleted`,
}
