import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { ColumnName } from './columns.ts'

export const columnNames: Record<ColumnName, MessageDescriptor> = {
  tags: msg`Tags`,
  folder: msg`Folder`,
  comments: msg`Comment`,
  series: msg`Trend`,
  clicks: msg`Clicks`,
  leads: msg`Leads`,
  sales: msg`Sales`,
  revenue: msg`Revenue`,
  lastClicked: msg`Last click`,
  created: msg`Created`,
  creator: msg`Creator`,
  expires: msg`Expires`,
}
