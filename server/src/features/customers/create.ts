import { openGroupCommit, SeparateCallsError } from '../../platform/batches.ts'
import type { Ctx } from '../../platform/context.ts'
import { hashPartition, newId } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction } from '../../platform/postgres.ts'
import { recordGrouped } from '../audit/service.ts'
import { hasAmpleRoom, keepCount, requireStorageRoom } from '../workspaces/service.ts'
import { customerCreatedMessage } from './messages.ts'
import { anyName } from './names.ts'
import { type CustomerRow, countCustomers, insertCustomers, type NewCustomerRow } from './store.ts'

export type Person = { externalId: string; name: string | null; email: string | null; avatar: string | null }
/** What brought a customer: its first click, or without one the link of a discount code. */
export type FirstClick = { clickId: string | null; linkNumber: bigint }

/** Inserts a customer, together with those of concurrent requests; undefined when the external id is taken. */
export async function insertRecorded(ctx: Ctx, row: NewCustomerRow): Promise<CustomerRow | undefined> {
  return (await createInGroup(ctx, row)) ?? createAlone(ctx, row)
}

/** Inserts a customer and, unless the request has a transaction of its own, the audit entry of the request. */
function createAlone(ctx: Ctx, row: NewCustomerRow): Promise<CustomerRow | undefined> {
  if (ctx.db.isTransaction) return insertAlone(ctx, row)
  return transaction(ctx, async (ctx) => {
    const customer = await insertAlone(ctx, row)
    if (customer) await recordGrouped(ctx, [{ ctx, performed: describeNew(row) }])
    return customer
  })
}

/** What the audit log says of a new customer. */
function describeNew({ id, external_id: externalId, name, email, avatar }: NewCustomerRow) {
  return { body: { externalId, name, email, avatar }, result: { id } }
}

/** Inserts a customer within the workspace's quota; undefined when the external id is taken. */
export function insertAlone(ctx: Ctx, row: NewCustomerRow): Promise<CustomerRow | undefined> {
  return transaction(ctx, async (ctx) => {
    await requireStorageRoom(ctx, 'customers', () => countCustomers(ctx.db, ctx.workspaceId))
    return (await insertCounted(ctx, [row]))[0]
  })
}

/** Inserts customers. Returns those whose external id was free. */
async function insertCounted(ctx: Ctx, rows: NewCustomerRow[]): Promise<CustomerRow[]> {
  const customers = await insertCustomers(ctx.db, rows)
  if (customers.length === 0) return []
  await keepCount(ctx, 'customers', customers.length)
  const { workspaceId } = ctx
  const partition = hashPartition(workspaceId, ctx.config.EVENT_PARTITIONS)
  const messages = customers.map(({ id, created_at }) =>
    customerCreatedMessage({ workspaceId, customerId: id, createdAt: created_at.toISOString() }, partition),
  )
  await publish(ctx, ...messages)
  return customers
}

/** Creates the customers of concurrent requests in one transaction; undefined for an external id that is taken. */
const createInGroup = openGroupCommit<NewCustomerRow, CustomerRow>(async (ctx, calls) => {
  const created = await insertTogether(
    ctx,
    calls.map(({ input }) => input),
  )
  const byId = new Map(created.map((customer) => [customer.id, customer]))
  const made = calls.filter(({ input }) => byId.has(input.id))
  await recordGrouped(
    ctx,
    made.map(({ ctx, input }) => ({ ctx, performed: describeNew(input) })),
  )
  return calls.map(({ input }) => byId.get(input.id))
})

/** Inserts customers of several requests. Near the quota, each request has to check it alone. */
export async function insertTogether(ctx: Ctx, rows: NewCustomerRow[]): Promise<CustomerRow[]> {
  if (!(await hasAmpleRoom(ctx, 'customers'))) throw new SeparateCallsError()
  return insertCounted(ctx, rows)
}

export function newRow(ctx: Ctx, person: Person, click: FirstClick | null): NewCustomerRow {
  return {
    id: newId('cus'),
    workspace_id: ctx.workspaceId,
    external_id: person.externalId,
    name: person.name ?? person.email ?? anyName(),
    email: person.email,
    avatar: person.avatar,
    click_id: click?.clickId ?? null,
    link_number: click?.linkNumber ?? null,
  }
}
