import { z } from 'zod'
import { instant } from './common.ts'
import { customerParams } from './customers.ts'
import { defaultActors, operation, type StreamOperation } from './operation.ts'

export const exportCustomer = {
  kind: 'stream',
  id: 'exportCustomer',
  method: 'get',
  path: '/customers/{id}/export',
  summary: 'Export a customer',
  description:
    'Exports everything that is stored about a customer as one JSON document: the customer, clicks with their addresses, leads, sales and refunds, commissions, webhook events with their deliveries, responses stored for an `Idempotency-Key`, and entries of the audit log. `omitted` lists sections whose scopes the caller lacks.',
  tag: 'Customers',
  actors: defaultActors,
  scope: 'customers.read',
  limit: 'export',
  plan: 'free',
  params: customerParams,
  query: z.object({}),
  contents: ['application/json'],
  openPerActor: 2,
} as const satisfies StreamOperation

export const customerErasure = z
  .strictObject({
    id: z.string(),
    status: z.enum(['erasing', 'erased']),
    requestedAt: instant.describe('When the customer was deleted.'),
    left: z
      .array(z.string())
      .describe('What still has data about the customer: `events`, `commissions` or `webhookEvents`.'),
  })
  .meta({ id: 'CustomerErasure' })
export type CustomerErasure = z.infer<typeof customerErasure>

export const getCustomerErasure = operation({
  id: 'getCustomerErasure',
  method: 'get',
  path: '/customers/{id}/erasure',
  summary: 'Get the progress of an erasure',
  description:
    'Tells whether data about a deleted customer is left. `DELETE /customers/{id}` erases the customer at once; workers erase the rest within seconds, or when they and ClickHouse are up again.',
  tag: 'Customers',
  scope: 'customers.read',
  limit: 'analytics',
  params: z.object({ id: z.string().max(100).describe('Id of the deleted customer.') }),
  response: customerErasure,
})
