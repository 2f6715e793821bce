import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import type { EditField } from './edit-fields.ts'

export const fieldLabels: Record<EditField, MessageDescriptor> = {
  url: msg`Destination`,
  comments: msg`Comment`,
  archived: msg`Archived`,
  trackConversion: msg`Track leads and sales`,
  utm_source: msg`UTM source`,
  utm_medium: msg`UTM medium`,
  utm_campaign: msg`UTM campaign`,
  utm_term: msg`UTM term`,
  utm_content: msg`UTM content`,
  ref: msg`Referral (ref)`,
  expiresAt: msg`Expires`,
  expiredUrl: msg`Destination afterwards`,
  disabled: msg`Disabled`,
  password: msg`Password`,
  ios: msg`Destination for iOS`,
  android: msg`Destination for Android`,
  proxy: msg`Own preview`,
  title: msg`Preview title`,
  description: msg`Preview description`,
  image: msg`Preview picture`,
  rewrite: msg`Keep the short address (frame)`,
  doIndex: msg`Let search engines index it`,
  tenantId: msg`Tenant id`,
}

/** Names of the fields that a preview shows; those not here have the name of the API. */
export const changeLabels: Record<string, MessageDescriptor> = {
  ...fieldLabels,
  tags: msg`Tags`,
  folderId: msg`Folder`,
  disabledAt: msg`Disabled`,
}
