import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { Area } from './areas.ts'

export const areaNames: Record<Area, MessageDescriptor> = {
  links: msg`Links, QR codes and UTM templates`,
  analytics: msg`Analytics and events`,
  domains: msg`Domains`,
  tags: msg`Tags`,
  folders: msg`Folders`,
  customers: msg`Customers`,
  conversions: msg`Reporting leads and sales`,
  webhooks: msg`Webhooks`,
  partners: msg`Partner program`,
  commissions: msg`Commissions`,
  payouts: msg`Payouts`,
  usage: msg`Usage`,
  workspaces: msg`Workspace, members and invites`,
  tokens: msg`Keys`,
  audit: msg`Audit log`,
  views: msg`Saved views`,
  preferences: msg`Own preferences`,
}
