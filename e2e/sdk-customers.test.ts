import { Dub } from 'dub'
import { HTTPClient } from 'dub/lib/http.js'
import { expect, inject, test } from 'vitest'
import { linkNumbers } from '../server/src/features/links/service.ts'
import { buildCustomer, buildLink, buildWorkspace } from '../server/test/build.ts'
import { contextIn } from '../server/test/context.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { customerKeys, expandedCustomerKeys } from './specification.ts'

const platform = await openTestPlatform()
const { api } = inject('server')

/** Creates a client of the public SDK that records raw responses. */
async function newClient() {
  const workspace = await buildWorkspace(platform)
  const answers: { status: number; body: unknown }[] = []
  const fetcher = async (request: string | URL | Request) => {
    const response = await fetch(request)
    answers.push({ status: response.status, body: await response.clone().json() })
    return response
  }
  const client = new Dub({ token: workspace.key, serverURL: api, httpClient: new HTTPClient({ fetcher }) })
  return {
    workspace,
    client,
    lastAnswer: () => answers.at(-1) as { status: number; body: Record<string, unknown> },
    calls: () => answers.length,
  }
}

test('a client of the public SDK gets, changes and deletes customers', async () => {
  const { workspace, client, lastAnswer } = await newClient()
  const link = await buildLink(platform, workspace, { key: 'spring' })
  const [linkNumber] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const click = { clickId: 'x', linkNumber: linkNumber as bigint }
  const { id } = await buildCustomer(platform, workspace, { externalId: 'ada', email: 'ada@example.com' }, click)
  await buildCustomer(platform, workspace, { externalId: 'bob' })

  const ada = await client.customers.get({ id })
  expect(lastAnswer().status).toBe(200)
  expect(Object.keys(lastAnswer().body).sort()).toEqual(customerKeys)
  expect(ada).toEqual(lastAnswer().body)
  expect(await client.customers.get({ id: 'ext_ada' })).toEqual(ada)
  const expanded = await client.customers.get({ id, includeExpandedFields: true })
  expect(Object.keys(lastAnswer().body).sort()).toEqual(expandedCustomerKeys)
  const { domain, key, shortLink, url } = link
  const shown = { id: link.id, domain, key, shortLink, url, programId: null }
  expect(expanded).toEqual({ ...ada, link: shown, programId: null, partner: null, discount: null })

  const changes = { name: 'Ada', country: 'GB', stripeCustomerId: 'cus_1', avatar: 'https://example.com/a.png' }
  const changed = await client.customers.update({ id: 'ext_ada', requestBody: changes })
  expect(changed).toEqual({ ...ada, ...changes })
  expect(Object.keys(lastAnswer().body).sort()).toEqual(customerKeys)
  expect(await client.customers.update({ id })).toEqual(changed)
  const emptied = await client.customers.update({ id, includeExpandedFields: true, requestBody: { email: null } })
  expect(emptied).toEqual({ ...changed, email: null, link: shown, programId: null, partner: null, discount: null })
  const duplicate = client.customers.update({ id, requestBody: { externalId: 'bob' } })
  await expect(duplicate).rejects.toMatchObject({ name: 'Conflict', statusCode: 409 })
  const unknown = client.customers.update({ id: 'cus_x', requestBody: {} })
  await expect(unknown).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })

  expect(await client.customers.delete('ext_ada')).toEqual({ id })
  expect(lastAnswer()).toEqual({ status: 200, body: { id } })
  await expect(client.customers.get({ id })).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
  await expect(client.customers.delete(id)).rejects.toMatchObject({ name: 'NotFound', statusCode: 404 })
})

test('a client of the public SDK lists customers, page after page', async () => {
  const { workspace, client, calls } = await newClient()
  const made: string[] = []
  for (let index = 0; index < 5; index++) {
    const person = { externalId: `c-${index}`, email: `c${index}@example.com`, name: `Customer ${index}` }
    made.unshift((await buildCustomer(platform, workspace, person)).id)
  }
  const listIds = async (request?: Parameters<typeof client.customers.list>[0]) => {
    const first = await client.customers.list(request)
    return first.result.map(({ id }) => id)
  }

  const before = calls()
  const seen: string[] = []
  for await (const page of await client.customers.list({ pageSize: 2 })) seen.push(...page.result.map(({ id }) => id))
  expect(seen).toEqual(made)
  expect(calls() - before).toBe(4)

  expect(await listIds()).toEqual(made)
  expect(await listIds({ sortOrder: 'asc' })).toEqual(made.toReversed())
  expect(await listIds({ sortBy: 'saleAmount', startingAfter: made[1], pageSize: 2 })).toEqual([made[2], made[3]])
  expect(await listIds({ endingBefore: made[3], pageSize: 2 })).toEqual([made[1], made[2]])
  expect(await listIds({ page: 3, pageSize: 2 })).toEqual([made[4]])
  expect(await listIds({ email: 'c3@example.com', search: 'c1' })).toEqual([made[1]])
  expect(await listIds({ externalId: 'c-2' })).toEqual([made[2]])
  expect(await listIds({ search: 'CUSTOMER 4' })).toEqual([made[0]])
  expect(await listIds({ country: 'US', linkId: 'link_x', programId: 'prog_x', partnerId: 'pn_x' })).toEqual([])
  const [only] = (await client.customers.list({ externalId: 'c-0', includeExpandedFields: true })).result
  expect(only).toMatchObject({ externalId: 'c-0', link: null, partner: null, discount: null })
})
