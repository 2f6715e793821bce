import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Measure } from '../analytics/measures.ts'

export const measureNames: Record<Measure, MessageDescriptor> = {
  clicks: msg`Clicks`,
  leads: msg`Leads`,
  sales: msg`Sales`,
  saleAmount: msg`Revenue`,
}
