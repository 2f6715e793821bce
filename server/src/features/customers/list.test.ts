import { createClient, type OperationInput } from '@tributary/contract/client'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { buildCustomer, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { linkNumbers } from '../links/service.ts'
import { deleteCustomer } from './service.ts'

const platform = await openTestPlatform()
const callAs = (token: string) => createClient({ url: inject('server').api, token })
type Query = NonNullable<OperationInput<'getCustomersCount'>['query']>

test('a search finds a whole id or Stripe id, and the count follows every filter', async () => {
  const workspace = await buildWorkspace(platform)
  const ctx = contextIn(platform, workspace.id)
  const link = await buildLink(platform, workspace)
  const [linkNumber = 0n] = await linkNumbers(ctx, { ids: [link.id] })
  const ada = await buildCustomer(
    platform,
    workspace,
    { name: 'Ada', externalId: 'user-1' },
    { clickId: '', linkNumber },
  )
  const bob = await buildCustomer(platform, workspace, { name: 'Bob', email: 'bob@example.com', externalId: 'bob' })
  const erased = await buildCustomer(platform, workspace, { name: 'Adam' })
  await deleteCustomer(ctx, erased.id)
  const foreign = await buildCustomer(platform, await buildWorkspace(platform), { name: 'Ada' })
  const call = callAs(workspace.key)
  await call('updateCustomer', { params: { id: bob.id }, body: { stripeCustomerId: 'cus_Stripe', country: 'DE' } })
  const expected: [Query, string[]][] = [
    [{}, ['Bob', 'Ada']],
    [{ search: ada.id }, ['Ada']],
    [{ search: ada.id.slice(0, -1) }, []],
    [{ search: 'cus_Stripe' }, ['Bob']],
    [{ search: foreign.id }, []],
    [{ search: erased.id }, []],
    [{ search: 'aD' }, ['Ada']],
    [{ country: 'de' }, ['Bob']],
    [{ linkId: link.id }, ['Ada']],
    [{ linkId: 'link_unknown' }, []],
    [{ email: 'bob@example.com' }, ['Bob']],
    [{ externalId: 'user-1', country: 'DE' }, []],
  ]
  for (const [query, names] of expected) {
    const found = await call('getCustomers', { query })
    expect(
      found.map(({ name }) => name),
      JSON.stringify(query),
    ).toEqual(names)
    expect(await call('getCustomersCount', { query })).toBe(names.length)
  }
})

test('an index serves every order of the list', async () => {
  const { id: workspaceId } = await buildWorkspace(platform)
  await sql`INSERT INTO customers (id, workspace_id, external_id, name, country, sale_amount)
    SELECT 'cus_' || gen_random_uuid(), ${workspaceId}, 'user-' || n, 'Person ' || n,
      CASE WHEN n % 1000 = 0 THEN 'IS' ELSE 'DE' END, n * 7919 % 100000
    FROM generate_series(1, 20000) AS n`.execute(platform.db)
  await sql`ANALYZE customers`.execute(platform.db)
  const explain = async (condition: string, order: string) => {
    const result = await sql<{ 'QUERY PLAN': string }>`EXPLAIN SELECT number FROM customers
      WHERE workspace_id = ${workspaceId} AND erased_at IS NULL AND ${sql.raw(condition)}
      ORDER BY ${sql.raw(order)} LIMIT 100`.execute(platform.db)
    return result.rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  const plans: [index: RegExp, plan: string][] = [
    // In a database of one workspace, the primary key has the same order.
    [/customers_newest|customers_pkey/, await explain('true', 'number DESC')],
    [/customers_sale_amount/, await explain('true', 'sale_amount DESC, number DESC')],
    [/Backward using customers_sale_amount/, await explain('true', 'sale_amount, number')],
    [/customers_country/, await explain("country = 'IS'", 'number DESC')],
  ]
  for (const [index, plan] of plans) expect(plan).toMatch(index)
})
