import type { OperationAnswer } from '@tributary/contract/client'
import { call } from '../../app/call.ts'

export type TestPerson = OperationAnswer<'getCustomers'>[number]
export type SentLead = { answer: OperationAnswer<'trackLead'>; linkId: string }

/** Begins the external id of every customer that this page makes, so that they are found and removed again. */
export const testPrefix = 'tributary-test-'
const linkPrefix = 'tracking-test-'
const amount = 100

/** Makes a link and a click on it, and reports a lead with that click, as a visitor and a server would. */
export async function sendTestLead(workspace: string): Promise<SentLead> {
  const id = [...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const link = await call(
    'createLink',
    {
      body: {
        url: location.origin,
        key: linkPrefix + id,
        title: 'Tracking test',
        comments: 'Made by the settings of tracking. Safe to delete.',
        trackConversion: true,
      },
    },
    workspace,
  )
  const { clickId } = await call('trackOpen', { body: { deepLink: link.shortLink } })
  const answer = await call(
    'trackLead',
    {
      body: {
        clickId: clickId ?? '',
        eventName: 'Test lead',
        customerExternalId: testPrefix + id,
        customerName: 'Test customer',
        metadata: { test: true },
      },
    },
    workspace,
  )
  return { answer, linkId: link.id }
}

/** Reports a sale of a test customer; the customer's id is the invoice, so that it can be refunded. */
export function sendTestSale(workspace: string, { externalId }: TestPerson, currency: string) {
  const body = {
    customerExternalId: externalId,
    amount,
    currency,
    eventName: 'Test sale',
    invoiceId: externalId,
    metadata: { test: true },
  }
  return call('trackSale', { body }, workspace)
}

/** Refunds the sale, erases the customer and deletes the link. Figures keep the click and the lead, without a person. */
export async function removeTestPerson(workspace: string, { id, externalId, sales, link }: TestPerson): Promise<void> {
  if (sales > 0) await call('trackRefund', { body: { invoiceId: externalId } }, workspace)
  await call('deleteCustomer', { params: { id } }, workspace)
  if (link?.key.startsWith(linkPrefix)) await call('deleteLink', { params: { linkId: link.id } }, workspace)
}
