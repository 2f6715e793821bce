import type {
  Customer as ContractCustomer,
  CustomerPatch,
  CustomersCountQuery,
  CustomersQuery,
  ExpandedCustomer,
  NewCustomer,
} from '@tributary/contract/customers'
import type { Link } from '@tributary/contract/links'
import { type Ctx, hasScope, type Platform } from '../../platform/context.ts'
import { conflict, invalid, notFound } from '../../platform/errors.ts'
import { forgetAnswers } from '../../platform/idempotency.ts'
import { hashPartition } from '../../platform/ids.ts'
import { publish } from '../../platform/outbox.ts'
import { transaction, violatedConstraint } from '../../platform/postgres.ts'
import { reportChange } from '../../platform/recording.ts'
import { forgetPersons } from '../audit/service.ts'
import { customerDiscounts } from '../discounts/service.ts'
import { linkNumbers, linksByNumber, ownedLinks } from '../links/service.ts'
import { findPartner, findPartnersById } from '../partners/service.ts'
import { keepCount } from '../workspaces/service.ts'
import {
  type FirstClick,
  insertAlone,
  insertRecorded,
  insertTogether,
  type Person as NewPerson,
  newRow,
} from './create.ts'
import { customerErasedMessage } from './messages.ts'
import { present, presentExpanded, presentListed, presentPartner } from './present.ts'
import {
  addSales,
  addTotals,
  type CustomerChanges,
  type CustomerFilter,
  type CustomerRow,
  type CustomerSelector,
  countMatching,
  eraseCustomerRow,
  fillCountries,
  type LocatedCustomer,
  lockBuyers,
  replaceSales,
  type SoldRow,
  selectCustomer,
  selectCustomers,
  selectCustomersByExternalId,
  selectCustomersById,
  selectHighestNumber,
  selectNumber,
  selectOrigins,
  selectSoldTo,
  updateCustomerRow,
  updateDeferredCode,
  updateFirstClicks,
} from './store.ts'

export type Customer = CustomerRow
export type Person = NewPerson
type Expansion = { includeExpandedFields?: boolean }

const attempts = 5

export async function listCustomers(ctx: Ctx, query: CustomersQuery): Promise<ExpandedCustomer[]> {
  if (query.startingAfter && query.endingBefore) {
    throw invalid('`startingAfter` and `endingBefore` in the query must not be used together.')
  }
  const backwards = query.endingBefore !== undefined
  const cursor = query.startingAfter ?? query.endingBefore
  const filter = await buildFilter(ctx, query)
  if (!filter) return []
  const rows = await selectCustomers(ctx.db, ctx.workspaceId, filter, {
    sort: query.sortBy,
    ascending: (query.sortOrder === 'asc') !== backwards,
    after: cursor === undefined ? undefined : await findCustomerNumber(ctx, cursor),
    offset: (query.page - 1) * query.pageSize,
    count: query.pageSize,
  })
  return presentAll(ctx, backwards ? rows.reverse() : rows, query)
}

export async function countCustomers(ctx: Ctx, query: CustomersCountQuery): Promise<number> {
  const filter = await buildFilter(ctx, query)
  return filter ? countMatching(ctx.db, ctx.workspaceId, filter) : 0
}

export async function createCustomer(ctx: Ctx, input: NewCustomer): Promise<ExpandedCustomer> {
  const { externalId, name = null, email = null, avatar = null } = input
  const row = newRow(ctx, { externalId, name, email, avatar }, null)
  const created = await insertRecorded(ctx, row)
  if (!created) throw taken('customers_external_id')
  return presentOne(ctx, created, {})
}

/** Creates the customer with this external id, or updates the given fields of the existing customer. */
export async function saveCustomer(ctx: Ctx, externalId: string, fields: Omit<CustomerPatch, 'externalId'>) {
  return transaction(ctx, async (ctx) => {
    const known = await findCustomer(ctx, externalId)
    const { name = null, email = null, avatar = null } = fields
    const row = known ?? (await makeCustomer(ctx, { externalId, name, email, avatar }, null))
    const changes = changesTo(row, fields)
    return Object.keys(changes).length === 0 ? row : updateCustomerRow(ctx.db, ctx.workspaceId, row.id, changes)
  })
}

export async function getCustomer(ctx: Ctx, name: string, expansion: Expansion): Promise<ExpandedCustomer> {
  return presentOne(ctx, await requireCustomer(ctx, name), expansion)
}

export async function updateCustomer(
  ctx: Ctx,
  name: string,
  patch: CustomerPatch,
  expansion: Expansion,
): Promise<ExpandedCustomer> {
  const row = await transaction(ctx, async (ctx) => {
    const row = await requireCustomer(ctx, name)
    const changes = changesTo(row, patch)
    reportChange(ctx, { id: row.id, before: row, after: changes })
    if (Object.keys(changes).length === 0) return row
    return updateCustomerRow(ctx.db, ctx.workspaceId, row.id, changes).catch((error) => {
      throw taken(violatedConstraint(error)) ?? error
    })
  })
  return presentOne(ctx, row, expansion)
}

/**
 * Erases a customer's personal data. Event metadata is erased later, by subscribers of the published message.
 */
export async function deleteCustomer(ctx: Ctx, name: string): Promise<{ id: string }> {
  return transaction(ctx, async (ctx) => {
    const row = await requireCustomer(ctx, name)
    await eraseCustomerRow(ctx.db, ctx.workspaceId, row.id)
    await keepCount(ctx, 'customers', -1)
    const ids = [row.id, row.external_id, row.email, row.stripe_customer_id, row.click_id]
    await forgetAnswers(ctx, known(ids))
    await forgetPersons(ctx, [row.id])
    const partition = hashPartition(ctx.workspaceId, ctx.config.EVENT_PARTITIONS)
    await publish(ctx, customerErasedMessage({ workspaceId: ctx.workspaceId, customerId: row.id }, partition))
    return { id: row.id }
  })
}

/** The customer as it appears in an event; `row` may be missing or erased. */
export function presentCustomer(row: Customer | undefined, id: string): ContractCustomer {
  return present(row, id)
}

/** The customer of an event as the actor may see it: without `customers.read`, only ids, name and counts. */
export function presentCustomerTo({ actor }: Pick<Ctx, 'actor'>, row: Customer | undefined, id: string) {
  const customer = present(row, id)
  if (hasScope(actor, 'customers.read')) return customer
  // A customer that was created without a name has the e-mail address as name.
  const name = customer.name?.includes('@') ? null : customer.name
  return { ...customer, name, email: null, avatar: null, stripeCustomerId: null }
}

/** Finds the customer of a path by its id or, prefixed with `ext_`, external id; throws 404 when there is none. */
export async function requireCustomer(ctx: Pick<Ctx, 'db' | 'workspaceId'>, name: string): Promise<Customer> {
  const row = await selectCustomer(ctx.db, ctx.workspaceId, parseSelector(name))
  if (!row) throw notFound('customer', name)
  return row
}

/** Finds a customer by external id. In a transaction, locks the row until it ends. */
export function findCustomer(ctx: Ctx, externalId: string): Promise<Customer | undefined> {
  return selectCustomer(ctx.db, ctx.workspaceId, { externalId })
}

/** Finds customers by external id. In a transaction, locks their rows until it ends. */
export async function findCustomers(ctx: Ctx, externalIds: string[]): Promise<Map<string, Customer>> {
  const rows = await selectCustomersByExternalId(ctx.db, ctx.workspaceId, [...new Set(externalIds)])
  return new Map(rows.map((row) => [row.external_id as string, row]))
}

/** Locks a customer against erasure until the transaction ends; undefined when it was erased. */
export function lockCustomer(ctx: Ctx, id: string): Promise<Customer | undefined> {
  return selectCustomer(ctx.db, ctx.workspaceId, { id })
}

/** Returns the customer with this external id, creating it if needed; safe for concurrent calls. */
export async function makeCustomer(ctx: Ctx, person: Person, click: FirstClick | null): Promise<Customer> {
  const row = newRow(ctx, person, click)
  // A customer found by the insert may be erased or get another external id before it is read.
  for (let attempt = 0; attempt < attempts; attempt++) {
    const customer = (await insertAlone(ctx, row)) ?? (await findCustomer(ctx, person.externalId))
    if (customer) return customer
  }
  throw conflict('The customer with this external id is being changed by another request. Try again.')
}

/** Creates customers for several requests. Those whose external id another request has just taken are missing. */
export async function makeCustomers(
  ctx: Ctx,
  origins: { person: Person; click: FirstClick | null }[],
): Promise<Map<string, Customer>> {
  if (origins.length === 0) return new Map()
  const rows = origins.map(({ person, click }) => newRow(ctx, person, click))
  const created = await insertTogether(ctx, rows)
  return new Map(created.map((customer) => [customer.external_id as string, customer]))
}

/** Saves the customer's first click, unless it already has one. */
export async function rememberClick(ctx: Ctx, customer: Customer, click: FirstClick): Promise<void> {
  await rememberClicks(ctx, [{ customer, click }])
}

export async function rememberClicks(ctx: Ctx, seen: { customer: Customer; click: FirstClick }[]): Promise<void> {
  const first = seen.filter(({ customer }) => customer.click_id === null)
  if (first.length === 0) return
  const rows = first.map(({ customer, click: { clickId, linkNumber } }) => ({ id: customer.id, clickId, linkNumber }))
  await updateFirstClicks(ctx.db, ctx.workspaceId, rows)
}

/** Saves the discount code of a deferred lead, in place of an earlier one. */
export function rememberCode(ctx: Ctx, { id }: Customer, code: string): Promise<void> {
  return updateDeferredCode(ctx.db, ctx.workspaceId, id, code)
}

/** Adds a sale or refund to the customer's totals. */
export function countSale(ctx: Ctx, id: string, sale: Omit<SoldRow, 'id'>): Promise<void> {
  return addSales(ctx.db, ctx.workspaceId, { id, ...sale })
}

/** The SQL that locks the customers with these external ids. */
export function buyersSelection(parts: Record<'workspace' | 'externalIds', string>): string {
  return lockBuyers(parts)
}

/** The SQL that adds to the totals of customers: `totals` selects id, sales, amount and time of the first sale. */
export function saleCounting(parts: Record<'workspace' | 'totals', string>): string {
  return addTotals(parts)
}

export type SoldTo = { number: bigint; id: string; workspaceId: string; sales: number; saleAmount: number }

/** Customers after a number, or with the given numbers, and their counted sales. */
export async function soldTo(
  platform: Pick<Platform, 'db'>,
  range: Parameters<typeof selectSoldTo>[1],
): Promise<SoldTo[]> {
  const rows = await selectSoldTo(platform.db, range)
  return rows.map(({ number, id, workspace_id, sales, sale_amount }) => {
    return { number, id, workspaceId: workspace_id, sales: Number(sales), saleAmount: Number(sale_amount) }
  })
}

export function highestCustomer(platform: Pick<Platform, 'db'>): Promise<bigint> {
  return selectHighestNumber(platform.db)
}

export function correctSales(
  platform: Pick<Platform, 'db'>,
  rows: Pick<SoldTo, 'number' | 'sales' | 'saleAmount'>[],
): Promise<void> {
  return replaceSales(platform.db, rows)
}

/** Saves the country of customers that have none yet. */
export async function saveCustomerCountries(platform: Pick<Platform, 'db'>, located: LocatedCustomer[]): Promise<void> {
  if (located.length > 0) await fillCountries(platform.db, located)
}

/** Where customers come from, including erased ones. Locks nothing. */
export function customerOrigins({ db, workspaceId }: Pick<Ctx, 'db' | 'workspaceId'>, ids: string[]) {
  return selectOrigins(db, workspaceId, [...new Set(ids)])
}

/** Customers by id, including erased customers. */
export async function customersById(
  ctx: Pick<Ctx, 'db' | 'workspaceId'>,
  ids: string[],
): Promise<Map<string, Customer>> {
  if (ids.length === 0) return new Map()
  const rows = await selectCustomersById(ctx.db, ctx.workspaceId, [...new Set(ids)])
  return new Map(rows.map((row) => [row.id, row]))
}

async function presentAll(ctx: Ctx, rows: CustomerRow[], expansion: Expansion): Promise<ExpandedCustomer[]> {
  if (!expansion.includeExpandedFields) return rows.map(presentListed)
  const numbers = rows.flatMap(({ link_number }) => link_number ?? [])
  const links = numbers.length === 0 ? new Map<bigint, Link>() : await linksByNumber(ctx, numbers)
  const partners = await findPartnersById(
    ctx,
    [...links.values()].flatMap(({ partnerId }) => partnerId ?? []),
  )
  const discounts = await customerDiscounts(
    ctx,
    [...partners.values()].map((partner) => partner.group_number),
  )
  return rows.map((row) => {
    const link = row.link_number === null ? undefined : links.get(row.link_number)
    const found = partners.get(link?.partnerId ?? '')
    const partner = found && presentPartner(found, hasScope(ctx.actor, 'partners.read'))
    return presentExpanded(row, { link, partner, discount: found && discounts.get(found.group_number) })
  })
}

async function presentOne(ctx: Ctx, row: CustomerRow, expansion: Expansion): Promise<ExpandedCustomer> {
  return (await presentAll(ctx, [row], expansion))[0] as ExpandedCustomer
}

function parseSelector(name: string): CustomerSelector {
  return name.startsWith('ext_') ? { externalId: name.slice(4) } : { id: name }
}

async function findCustomerNumber(ctx: Ctx, id: string): Promise<bigint> {
  const number = await selectNumber(ctx.db, ctx.workspaceId, id)
  if (number === undefined) throw notFound('customer', id)
  return number
}

/** Builds the list filter: email or external id takes precedence over search. Undefined when no customer can match. */
async function buildFilter(ctx: Ctx, query: CustomersCountQuery): Promise<CustomerFilter | undefined> {
  const { email, externalId, search, linkId, partnerId, programId } = query
  const named =
    email !== undefined ? { email } : externalId !== undefined ? { externalId } : search !== undefined && { search }
  const partner = partnerId === undefined ? undefined : await findPartner(ctx, { partnerId })
  if (partnerId !== undefined && !partner) return undefined
  const links = [
    ...(partner ? [ownedLinks(ctx, { partnerId: partner.id })] : []),
    ...(programId === undefined ? [] : [ownedLinks(ctx, { programId })]),
  ]
  const [linkNumber] = linkId === undefined ? [] : await linkNumbers(ctx, { ids: [linkId] })
  if (linkId !== undefined && linkNumber === undefined) return undefined
  return { ...named, country: query.country?.toUpperCase(), linkNumber, links }
}

/** The columns that the patch really changes. */
function changesTo(row: CustomerRow, patch: CustomerPatch): CustomerChanges {
  const changes: CustomerChanges = {
    external_id: patch.externalId,
    name: patch.name,
    email: patch.email,
    avatar: patch.avatar,
    stripe_customer_id: patch.stripeCustomerId,
    country: patch.country,
  }
  const changed = Object.entries(changes).filter(
    ([column, value]) => value !== undefined && value !== row[column as keyof CustomerChanges],
  )
  return Object.fromEntries(changed)
}

function taken(constraint: string | undefined) {
  const field = { customers_external_id: 'externalId', customers_stripe_id: 'stripeCustomerId' }[constraint ?? '']
  return field && conflict(`Another customer already has this \`${field}\`. It must be unique.`)
}

function known(values: (string | null)[]): string[] {
  return values.filter((value) => value !== null)
}
