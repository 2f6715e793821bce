import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { ColumnName } from './columns.ts'
import type { EventKind } from './search.ts'

export const columnNames: Record<ColumnName, MessageDescriptor> = {
  name: msg`Event`,
  customer: msg`Customer`,
  amount: msg`Amount`,
  invoice: msg`Invoice`,
  processor: msg`Payment processor`,
  link: msg`Link`,
  destination: msg`Destination`,
  country: msg`Country`,
  region: msg`Region`,
  city: msg`City`,
  continent: msg`Continent`,
  device: msg`Device`,
  browser: msg`Browser`,
  os: msg`System`,
  source: msg`Source`,
  page: msg`Source page`,
  trigger: msg`Trigger`,
  ip: msg`IP address`,
  utm_source: msg`UTM source`,
  utm_medium: msg`UTM medium`,
  utm_campaign: msg`UTM campaign`,
  utm_term: msg`UTM term`,
  utm_content: msg`UTM content`,
}

export const kindNames: Record<EventKind, MessageDescriptor> = {
  clicks: msg`Clicks`,
  leads: msg`Leads`,
  sales: msg`Sales`,
}
