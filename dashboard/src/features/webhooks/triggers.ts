import type { Trigger } from '@tributary/contract/webhooks'

/** Triggers by what they are about, in the order in which a form shows them. */
export const triggerGroups = {
  links: ['link.created', 'link.updated', 'link.deleted', 'link.clicked'],
  conversions: ['lead.created', 'sale.created', 'sale.refunded'],
  partners: ['partner.application_submitted', 'partner.enrolled', 'partner.updated', 'partner.merged'],
  commissions: ['commission.created', 'commission.updated', 'discount_code.created', 'discount_code.deleted'],
} as const satisfies Record<string, Trigger[]>
export type TriggerGroup = keyof typeof triggerGroups

export const triggers: readonly Trigger[] = Object.values(triggerGroups).flat()
