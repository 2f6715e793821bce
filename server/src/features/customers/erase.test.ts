import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { buildCustomer, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { openOwnDatabase, takeMessages } from '../../../test/own-database.ts'
import type { Platform } from '../../platform/context.ts'
import { requestHash, withIdempotency } from '../../platform/idempotency.ts'
import { deleteCustomer, findCustomer, getCustomer, listCustomers, makeCustomer, updateCustomer } from './service.ts'

const platform = await openOwnDatabase()
const query = { sortBy: 'createdAt', sortOrder: 'desc', page: 1, pageSize: 100 } as const

/** A customer with unique values that can be searched for in all tables. */
function somebody() {
  const tag = randomUUID().slice(0, 8)
  return {
    externalId: `external-${tag}`,
    name: `Name "${tag}"`,
    email: `email-${tag}@example.com`,
    avatar: `https://example.com/avatar-${tag}.png`,
    tag,
  }
}

/** Every table of the database that contains this text. */
async function tablesWith({ db }: Platform, text: string): Promise<string[]> {
  const tables = await sql<{ name: string }>`
    SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`.execute(db)
  const found: string[] = []
  for (const { name } of tables.rows) {
    const rows = await sql`SELECT 1 FROM ${sql.table(name)} t WHERE strpos(t::text, ${text}) > 0`.execute(db)
    if (rows.rows.length > 0) found.push(name)
  }
  return found
}

test('erasing a customer leaves no personal data anywhere; the row stays for its events', async () => {
  const workspace = await buildWorkspace(platform)
  const context = contextIn(platform, workspace.id)
  const { tag, ...person } = somebody()
  const { id } = await makeCustomer(context, person, { clickId: `click-${tag}`, linkNumber: 7n })
  const hash = requestHash(['x'])
  const answers = {
    lead: JSON.stringify({ click: { id: `click-${tag}` }, customer: person }),
    sale: JSON.stringify({ customer: { id }, sale: { metadata: { secret: tag } } }),
  }
  for (const [key, text] of Object.entries(answers))
    await withIdempotency(context, { key, hash }, async () => ({ status: 200, text }))
  const patch = withIdempotency(context, { key: 'patch', hash }, async (ctx) => {
    const answer = await updateCustomer(ctx, id, { stripeCustomerId: `stripe-${tag}`, country: 'DE' }, {})
    return { status: 200, text: JSON.stringify(answer) }
  })
  expect(await patch).toMatchObject({ status: 200 })
  const missing = withIdempotency(context, { key: 'missing', hash }, async (ctx) => {
    await getCustomer(ctx, `ext_${person.externalId}-other`, {})
    return { status: 200, text: '' }
  })
  await expect(missing).rejects.toThrow('There is no customer')
  expect(await tablesWith(platform, tag)).toEqual(['customers'])

  await takeMessages(platform)
  expect(await deleteCustomer(context, `ext_${person.externalId}`)).toEqual({ id })

  expect(await tablesWith(platform, `-${tag}`)).toEqual(['customers'])
  expect(await tablesWith(platform, `"${tag}`)).toEqual([])
  const [row] = (await sql<Record<string, unknown>>`SELECT * FROM customers WHERE id = ${id}`.execute(platform.db)).rows
  expect(row).toMatchObject({
    external_id: null,
    name: null,
    email: null,
    avatar: null,
    stripe_customer_id: null,
    country: null,
    click_id: `click-${tag}`,
    link_number: 7n,
    erased_at: expect.any(Date),
  })
  expect(row?.search_text).toBe('\n\n')
  expect(await takeMessages(platform)).toEqual([{ workspaceId: workspace.id, customerId: id, at: undefined }])
})

test('an erased customer is not found, and a new customer may have the external id', async () => {
  const workspace = await buildWorkspace(platform)
  const context = contextIn(platform, workspace.id)
  const { id } = await buildCustomer(platform, workspace, { externalId: 'x' })
  await deleteCustomer(context, id)
  expect(await listCustomers(context, query)).toEqual([])
  expect(await findCustomer(context, 'x')).toBeUndefined()
  for (const name of [id, 'ext_x']) {
    await expect(getCustomer(context, name, {})).rejects.toMatchObject({ code: 'not_found' })
    await expect(updateCustomer(context, name, {}, {})).rejects.toMatchObject({ code: 'not_found' })
    await expect(deleteCustomer(context, name)).rejects.toMatchObject({ code: 'not_found' })
  }
  const next = await buildCustomer(platform, workspace, { externalId: 'x' })
  expect(next.id).not.toBe(id)
})

test('of two concurrent erasures of a customer, one succeeds and the other fails', async () => {
  const workspace = await buildWorkspace(platform)
  const context = contextIn(platform, workspace.id)
  const { id } = await buildCustomer(platform, workspace)
  await takeMessages(platform)
  const outcomes = await Promise.allSettled([deleteCustomer(context, id), deleteCustomer(context, id)])
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(await takeMessages(platform)).toHaveLength(1)
})
