import { createClient } from '@tributary/contract/client'
import { type ExpandedCustomer, listCustomers } from '@tributary/contract/customers'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import {
  type BuiltWorkspace,
  buildCustomer,
  buildLink,
  buildPartner,
  buildProgram,
  buildWorkspace,
} from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { transaction } from '../../platform/postgres.ts'
import { createDiscount } from '../discounts/service.ts'
import { requireDefaultGroup } from '../groups/service.ts'
import { deleteLink, linkNumbers } from '../links/service.ts'
import { mergeRows } from '../partners/service.ts'
import { countSale, customersById, makeCustomer, presentCustomer } from './service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
const minuteMs = 60_000

async function send(workspace: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body?: unknown, at = api) {
  const response = await fetch(at + path, {
    method,
    headers: { authorization: `Bearer ${workspace.key}` },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const answer = (await response.json()) as ExpandedCustomer & { error?: { code: string; message: string } }
  return { status: response.status, answer, code: answer.error?.code, message: answer.error?.message }
}

describe('getCustomers', () => {
  let workspace: BuiltWorkspace
  let linkId: string
  let names: (query: string) => Promise<(string | null)[]>

  beforeAll(async () => {
    workspace = await buildWorkspace(platform)
    const link = await buildLink(platform, workspace, { key: 'spring' })
    linkId = link.id
    const [number] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
    const click = { clickId: 'c', linkNumber: number as bigint }
    const people = [
      { name: 'Ada', email: 'ada@example.com', externalId: 'Bob' },
      { name: 'Bob', email: 'bob@example.com', externalId: '100%_\\' },
      { name: 'Cleo', email: null, externalId: 'c-3' },
      { name: 'Dora', email: 'ADA@example.com', externalId: 'd-4' },
      { name: 'Émile', email: null, externalId: 'e-5' },
    ]
    const made = []
    for (const [index, person] of people.entries()) {
      made.push(await buildCustomer(platform, workspace, person, index < 2 ? click : null))
    }
    const context = contextIn(platform, workspace.id)
    const [ada, bob, cleo] = made.map(({ id }) => id) as [string, string, string]
    await countSale(context, ada, { sales: 1, amount: 500, at: new Date(3 * minuteMs) })
    await countSale(context, bob, { sales: 2, amount: 500, at: new Date(minuteMs) })
    await countSale(context, cleo, { sales: 1, amount: 900, at: new Date(2 * minuteMs) })
    await sql`UPDATE customers SET country = 'DE', subscription_canceled_at = now() WHERE id = ${bob}`.execute(
      platform.db,
    )
    await buildCustomer(platform, await buildWorkspace(platform), { name: 'Foreign' })
    names = async (query) => {
      const { status, answer } = await send(workspace, 'GET', `/customers?${query}`)
      expect(status).toBe(200)
      return (answer as unknown as ExpandedCustomer[]).map(({ name }) => name)
    }
  })

  it.each([
    ['', 'Émile Dora Cleo Bob Ada'],
    ['sortOrder=asc', 'Ada Bob Cleo Dora Émile'],
    ['sortBy=saleAmount', 'Cleo Bob Ada Émile Dora'],
    ['sortBy=saleAmount&sortOrder=asc', 'Dora Émile Ada Bob Cleo'],
    ['sortBy=firstSaleAt', 'Ada Cleo Bob Émile Dora'],
    ['sortBy=firstSaleAt&sortOrder=asc', 'Dora Émile Bob Cleo Ada'],
    ['sortBy=subscriptionCanceledAt', 'Bob Émile Dora Cleo Ada'],
    ['email=ada%40example.com', 'Ada'],
    ['externalId=Bob', 'Ada'],
    ['externalId=bob', ''],
    ['search=BOB', 'Bob Ada'],
    ['search=ada%40', 'Dora Ada'],
    ['search=%C3%A9mil', 'Émile'],
    ['search=100%25_', 'Bob'],
    ['search=%25', 'Bob'],
    ['search=%5C', 'Bob'],
    ['search=nobody', ''],
    ['email=ada%40example.com&externalId=c-3&search=Bob', 'Ada'],
    ['externalId=c-3&search=Bob', 'Cleo'],
    ['country=DE', 'Bob'],
    ['country=de', 'Bob'],
    ['country=FR', ''],
    ['partnerId=pn_1', ''],
    ['programId=prog_1', ''],
    ['linkId=link_unknown', ''],
    ['page=2&pageSize=2', 'Cleo Bob'],
    ['page=4&pageSize=2', ''],
    ['pageSize=2&page=1&sortBy=saleAmount', 'Cleo Bob'],
  ])('200: %s', async (query, expected) => {
    expect((await names(query)).join(' ')).toBe(expected)
  })

  it("200: lists a link's customers", async () => {
    expect(await names(`linkId=${linkId}`)).toEqual(['Bob', 'Ada'])
    expect(await names(`linkId=${linkId}&search=bob%40`)).toEqual(['Bob'])
    expect(await names(`linkId=${linkId}&partnerId=pn_1`)).toEqual([])
  })

  it.each(['createdAt', 'saleAmount', 'firstSaleAt', 'subscriptionCanceledAt'])(
    '200: sorted by %s, cursors reach each customer once, forwards and backwards',
    async (sortBy) => {
      for (const sortOrder of ['asc', 'desc']) {
        const order = `sortBy=${sortBy}&sortOrder=${sortOrder}`
        const all = (await send(workspace, 'GET', `/customers?${order}`)).answer as unknown as ExpandedCustomer[]
        const walk = async (direction: string, from: string | undefined) => {
          const seen: string[][] = []
          for (let cursor = from; ; ) {
            const page = cursor ? `&${direction}=${cursor}` : ''
            const { answer } = await send(workspace, 'GET', `/customers?${order}&pageSize=2${page}`)
            const ids = (answer as unknown as ExpandedCustomer[]).map(({ id }) => id)
            if (ids.length === 0) return seen
            seen.push(ids)
            cursor = direction === 'startingAfter' ? ids.at(-1) : ids[0]
          }
        }
        const ids = all.map(({ id }) => id)
        expect((await walk('startingAfter', undefined)).flat()).toEqual(ids)
        expect((await walk('endingBefore', ids.at(-1))).reverse().flat()).toEqual(ids.slice(0, -1))
      }
    },
  )

  it('200: a list continues after a customer who was erased meanwhile', async () => {
    const own = await buildWorkspace(platform)
    const made = []
    for (const name of ['a', 'b', 'c']) made.push(await buildCustomer(platform, own, { name }))
    const cursor = made[1]?.id
    await send(own, 'DELETE', `/customers/${cursor}`)
    const rest = await createClient({ url: api, token: own.key })(listCustomers, { query: { startingAfter: cursor } })
    expect(rest.map(({ name }) => name)).toEqual(['a'])
  })

  it('404, 422: refuses an unknown cursor, or two cursors', async () => {
    const unknown = await send(workspace, 'GET', '/customers?startingAfter=cus_x')
    expect([unknown.status, unknown.message]).toEqual([404, 'There is no customer cus_x in this workspace.'])
    const both = await send(workspace, 'GET', '/customers?startingAfter=a&endingBefore=b')
    expect(both.status).toBe(422)
    expect((await send(workspace, 'GET', '/customers?sortBy=name')).status).toBe(422)
    expect((await send(workspace, 'GET', '/customers?pageSize=101')).status).toBe(422)
  })
})

describe('createCustomer', () => {
  it('201: creates a customer with a generated name, and external id `ext_1` beside `1`', async () => {
    const workspace = await buildWorkspace(platform)
    const body = { externalId: '1', email: 'ada@example.com', avatar: 'https://example.com/a.png' }
    const first = await send(workspace, 'POST', '/customers', body)
    expect([first.status, first.answer]).toMatchObject([201, { ...body, name: 'ada@example.com', sales: 0 }])
    const second = await send(workspace, 'POST', '/customers', { externalId: 'ext_1', name: 'Bob' })
    expect([second.status, second.answer]).toMatchObject([201, { externalId: 'ext_1', name: 'Bob', email: null }])
    expect((await send(workspace, 'GET', '/customers/ext_1')).answer).toEqual(first.answer)
    expect((await send(workspace, 'GET', '/customers/ext_ext_1')).answer).toEqual(second.answer)
  })

  it('400, 409, 422: refuses an external id that is missing, taken or too long', async () => {
    const workspace = await buildWorkspace(platform)
    await send(workspace, 'POST', '/customers', { externalId: '1' })
    expect((await send(workspace, 'POST', '/customers', {})).status).toBe(400)
    expect((await send(workspace, 'POST', '/customers', { externalId: '1' })).code).toBe('conflict')
    expect((await send(workspace, 'POST', '/customers', { externalId: 'x'.repeat(101) })).status).toBe(422)
  })
})

describe('trackCustomer', () => {
  it('200: creates a customer, then changes only the given fields', async () => {
    const workspace = await buildWorkspace(platform)
    const track = async (body: object) => (await send(workspace, 'POST', '/track/customer', body)).answer
    const made = { customerId: 'ext_7', customerName: 'Ada', customerEmail: 'ada@example.com', customerAvatar: null }
    expect(await track({ ...made })).toEqual(made)
    expect(await track({ customerId: 'ext_7', customerName: 'Ada L.' })).toEqual({ ...made, customerName: 'Ada L.' })
    const found = await send(workspace, 'GET', '/customers?externalId=ext_7')
    expect(found.answer).toMatchObject([{ externalId: 'ext_7', name: 'Ada L.', email: 'ada@example.com' }])
  })

  it('400, 422: refuses a missing id and an invalid e-mail address', async () => {
    const workspace = await buildWorkspace(platform)
    expect((await send(workspace, 'POST', '/track/customer', {})).status).toBe(400)
    const wrong = { customerId: '1', customerEmail: 'nobody' }
    expect((await send(workspace, 'POST', '/track/customer', wrong)).status).toBe(422)
  })
})

describe('getCustomer', () => {
  it('200: finds a customer by id and by external id, with its twelve fields', async () => {
    const workspace = await buildWorkspace(platform)
    const made = await buildCustomer(platform, workspace, { externalId: 'a/b c', email: 'a@example.com' })
    const expected = {
      id: made.id,
      name: 'a@example.com',
      email: 'a@example.com',
      avatar: null,
      externalId: 'a/b c',
      stripeCustomerId: null,
      country: null,
      sales: 0,
      saleAmount: 0,
      createdAt: made.created_at.toISOString(),
      firstSaleAt: null,
      subscriptionCanceledAt: null,
    }
    expect((await send(workspace, 'GET', `/customers/${made.id}`)).answer).toEqual(expected)
    expect((await send(workspace, 'GET', '/customers/ext_a%2Fb%20c')).answer).toEqual(expected)
    const expanded = await send(workspace, 'GET', `/customers/${made.id}?includeExpandedFields=true`)
    expect(expanded.answer).toEqual({ ...expected, link: null, programId: null, partner: null, discount: null })
  })

  it('200: returns the customer with its link when expanded', async () => {
    const workspace = await buildWorkspace(platform)
    const link = await buildLink(platform, workspace, { key: 'k' })
    const [linkNumber] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
    const click = { clickId: 'c', linkNumber: linkNumber as bigint }
    const { id } = await buildCustomer(platform, workspace, {}, click)
    const { answer } = await send(workspace, 'GET', `/customers/${id}?includeExpandedFields=true`)
    const { domain, key, shortLink, url, programId } = link
    expect(answer.link).toEqual({ id: link.id, domain, key, shortLink, url, programId })
    expect((await send(workspace, 'GET', `/customers/${id}?includeExpandedFields=false`)).answer).not.toHaveProperty(
      'link',
    )
  })

  it('200: returns the partner of the link and the discount of its group, and lists customers by both', async () => {
    const workspace = await buildWorkspace(platform)
    const ctx = contextIn(platform, workspace.id)
    const program = await buildProgram(platform, workspace)
    const { id: groupId } = await requireDefaultGroup(ctx)
    const given = { type: 'percentage', amount: 12.5, maxDuration: 3, couponId: 'spring' } as const
    const discount = await createDiscount(ctx, { groupId, ...given })
    const [partner, other] = [await buildPartner(platform, workspace), await buildPartner(platform, workspace)]
    const makeReferred = async (partnerId: string | null) => {
      const link = await buildLink(platform, workspace, { partnerId })
      const [linkNumber] = await linkNumbers(ctx, { ids: [link.id] })
      const { id } = await buildCustomer(platform, workspace, {}, { clickId: 'c', linkNumber: linkNumber as bigint })
      return { id, linkId: link.id }
    }
    const [mine, others, nobodys] = [
      await makeReferred(partner.id),
      await makeReferred(other.id),
      await makeReferred(null),
    ]
    const { answer } = await send(workspace, 'GET', `/customers/${mine.id}?includeExpandedFields=true`)
    const { id, name, email, image } = partner
    expect(answer).toMatchObject({ programId: program.id, link: { programId: program.id } })
    expect(answer.partner).toEqual({ id, name, email, image })
    const shown = { couponId: 'spring', couponTestId: null, description: null }
    expect(answer.discount).toEqual({ ...given, id: discount.id, ...shown })

    const list = async (query: string) => {
      const { answer } = await send(workspace, 'GET', `/customers?${query}`)
      return (answer as unknown as ExpandedCustomer[]).map(({ id }) => id)
    }
    await deleteLink(ctx, mine.linkId)
    expect(await list(`partnerId=${partner.id}`)).toEqual([mine.id])
    expect(await list(`programId=${program.id}`)).toEqual([others.id, mine.id])
    expect(await list(`programId=${program.id}&partnerId=${other.id}`)).toEqual([others.id])
    expect(await list('programId=prog_x')).toEqual([])
    expect(await list('')).toEqual([nobodys.id, others.id, mine.id])
    await transaction(ctx, (ctx) => mergeRows(ctx, partner, other))
    const merged = await send(workspace, 'GET', `/customers/${mine.id}?includeExpandedFields=true`)
    expect(merged.answer.partner).toMatchObject({ id: other.id })
  })

  it.each(['cus_x', 'ext_x', 'ext_'])('404: %s', async (name) => {
    const { status, message } = await send(await buildWorkspace(platform), 'GET', `/customers/${name}`)
    expect([status, message]).toEqual([404, `There is no customer ${name} in this workspace.`])
  })
})

describe('updateCustomer', () => {
  it('200: changes the given fields and keeps the rest', async () => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace, { name: 'Ada', email: 'a@example.com', externalId: 'a' })
    const before = (await send(workspace, 'GET', `/customers/${id}`)).answer
    const patch = { country: 'de', stripeCustomerId: 'cus_s', externalId: 'b', avatar: 'https://example.com/a.png' }
    const after = await send(workspace, 'PATCH', '/customers/ext_a', patch)
    expect(after.answer).toEqual({ ...before, ...patch, country: 'DE' })
    expect((await send(workspace, 'PATCH', `/customers/${id}`, {})).answer).toEqual(after.answer)
    const emptied = await send(workspace, 'PATCH', '/customers/ext_b?includeExpandedFields=true', {
      name: null,
      email: null,
      stripeCustomerId: null,
      avatar: null,
    })
    expect(emptied.answer).toMatchObject({ name: null, email: null, stripeCustomerId: null, avatar: null, link: null })
  })

  it.each(['externalId', 'stripeCustomerId'])('409: refuses the %s of another customer', async (field) => {
    const workspace = await buildWorkspace(platform)
    const [one, other] = [await buildCustomer(platform, workspace), await buildCustomer(platform, workspace)]
    await send(workspace, 'PATCH', `/customers/${one.id}`, { [field]: 'taken' })
    const { status, message } = await send(workspace, 'PATCH', `/customers/${other.id}`, {
      [field]: 'taken',
      name: 'x',
    })
    const refusal = `Another customer already has this \`${field}\`. It must be unique.`
    expect([status, message]).toEqual([409, refusal])
    expect((await send(workspace, 'GET', `/customers/${other.id}`)).answer.name).toBe(other.name)
    expect((await send(workspace, 'PATCH', `/customers/${one.id}`, { [field]: 'taken' })).status).toBe(200)
    const elsewhere = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, elsewhere)
    expect((await send(elsewhere, 'PATCH', `/customers/${id}`, { [field]: 'taken' })).status).toBe(200)
  })

  it.each([
    [400, { name: 5 }],
    [400, { externalId: null }],
    [422, { email: 'nobody' }],
    [422, { externalId: '' }],
    [422, { externalId: 'x'.repeat(101) }],
    [422, { name: 'a\u0000b' }],
    [422, { name: 'a\nb' }],
    [422, { name: '\ud800' }],
    [422, { stripeCustomerId: '' }],
    [422, { country: 'DEU' }],
    [422, { avatar: 'picture' }],
  ])('%i: %j', async (status, patch) => {
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace)
    expect((await send(workspace, 'PATCH', `/customers/${id}`, patch)).status).toBe(status)
  })

  it('404: fails for an unknown customer', async () => {
    const workspace = await buildWorkspace(platform)
    expect((await send(workspace, 'PATCH', '/customers/ext_x', { name: 'x' })).code).toBe('not_found')
  })
})

describe('deleteCustomer', () => {
  it('200, 404: publishes the erasure without personal data', async () => {
    const server = await startServer({ ...inject('environment'), ROLES: 'api', LOG_LEVEL: 'debug' })
    onTestFinished(async () => void (await server.stop()))
    const workspace = await buildWorkspace(platform)
    const { id } = await buildCustomer(platform, workspace, { externalId: 'ada-7', email: 'ada-7@example.com' })
    const other = await buildCustomer(platform, workspace)
    const changes = [`/customers/${other.id}`, { externalId: 'ada-7' }] as const
    expect((await send(workspace, 'PATCH', ...changes, server.api)).status).toBe(409)
    expect((await send(workspace, 'DELETE', '/customers/ext_ada-7', undefined, server.api)).answer).toEqual({ id })
    expect((await send(workspace, 'DELETE', '/customers/ext_ada-7', undefined, server.api)).status).toBe(404)
    expect((await send(workspace, 'GET', '/customers?email=ada-7%40example.com', undefined, server.api)).status).toBe(
      200,
    )
    await server.stop()
    const log = server.log.join('\n')
    expect(log).toContain('/customers/ext_…')
    expect(log).not.toContain('ada-7')
  })
})

describe('creating and presenting', () => {
  it('50 concurrent calls of makeCustomer return the same customer', async () => {
    const workspace = await buildWorkspace(platform)
    const context = contextIn(platform, workspace.id)
    const person = { externalId: 'same', name: null, email: null, avatar: null }
    const made = await Promise.all(Array.from({ length: 50 }, () => makeCustomer(context, person, null)))
    expect(new Set(made.map(({ id, name }) => `${id} ${name}`)).size).toBe(1)
    expect(made[0]?.name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+$/)
  })

  it('an erased or unknown customer is shown without personal data', async () => {
    const workspace = await buildWorkspace(platform)
    const { id, created_at } = await buildCustomer(platform, workspace, { name: 'Ada', email: 'a@example.com' })
    const context = contextIn(platform, workspace.id)
    await countSale(context, id, { sales: 1, amount: 5, at: new Date(0) })
    await send(workspace, 'DELETE', `/customers/${id}`)
    const row = (await customersById(context, [id, 'cus_x'])).get(id)
    const nobody = {
      name: 'Deleted customer',
      email: null,
      avatar: null,
      externalId: '',
      stripeCustomerId: null,
      country: null,
      subscriptionCanceledAt: null,
    }
    const counts = { sales: 1, saleAmount: 5, firstSaleAt: '1970-01-01T00:00:00.000Z' }
    expect(presentCustomer(row, id)).toEqual({ id, ...nobody, ...counts, createdAt: created_at.toISOString() })
    const unknown = { sales: 0, saleAmount: 0, firstSaleAt: null, createdAt: '1970-01-01T00:00:00.000Z' }
    expect(presentCustomer(undefined, 'cus_x')).toEqual({ id: 'cus_x', ...nobody, ...unknown })
  })
})
