/** Field names from the specification, typed independently of the contract, so that tests can compare the two. */
export const clickEventKeys = words(`event timestamp click link click_id link_id domain key url continent country city
  device browser os qr ip`)

export const leadEventKeys =
  words(`event timestamp eventId eventName metadata click link customer click_id link_id domain
  key url continent country city device browser os qr ip`)

export const saleEventKeys = words(`${leadEventKeys.join(' ')} sale saleAmount invoice_id payment_processor`)

export const saleKeys = words('amount invoiceId paymentProcessor currency')

export const clickKeys = words(`id timestamp url country city region continent device browser os trigger referer
  refererUrl qr ip`)

export const linkKeys = words(`id domain key url trackConversion externalId tenantId programId partnerId archived
  expiresAt expiredUrl disabledAt password proxy title description image video rewrite doIndex ios android geo
  publicStats tags folderId webhookIds comments shortLink qrCode utm_source utm_medium utm_campaign utm_term utm_content
  testVariants testStartedAt testCompletedAt userId workspaceId clicks leads conversions sales saleAmount lastClicked
  createdAt updatedAt tagId projectId`)

export const linkDates = words('expiresAt disabledAt testStartedAt testCompletedAt lastClicked createdAt updatedAt')

export const tagKeys = words('id name color')

export const folderKeys = words('id name description type accessLevel createdAt updatedAt')

export const customerKeys = words(`id name email avatar externalId stripeCustomerId country sales saleAmount createdAt
  firstSaleAt subscriptionCanceledAt`)

export const expandedCustomerKeys = words(`${customerKeys.join(' ')} link programId partner discount`)

function words(text: string): string[] {
  return text.split(/\s+/).sort()
}
