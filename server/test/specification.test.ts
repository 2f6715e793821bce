import { plans } from '@tributary/contract/operation'
import { expect, inject, test } from 'vitest'
import { problems } from '../../contract/test/answers.ts'
import { list, object } from '../../contract/test/specification/notation.ts'
import { operationTables } from '../../contract/test/specification/operations.ts'
import {
  analyticsLimits,
  errorCodes,
  mostLinksInBulk,
  planGates,
  planLimits,
  randomKeyLength,
  rateLimitHeaders,
} from '../../contract/test/specification/rules.ts'
import { linkNumbers } from '../src/features/links/service.ts'
import { findAllowance } from '../src/platform/rate-limit.ts'
import { type BuiltWorkspace, buildClick, buildLink, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from './events/feed-rows.ts'
import { openTestPlatform } from './stack.ts'

/*
 * Compares live responses with the tables of contract/test/specification, for every operation in them: exact keys,
 * types, null and values.
 */

const platform = await openTestPlatform()
const { api } = inject('server')
const url = 'https://example.com/landing'

type Sent = { status: number; headers: Headers; body: unknown }

async function send(workspace: Pick<BuiltWorkspace, 'key'>, method: string, path: string, body?: unknown) {
  const response = await fetch(api + path, {
    method,
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() } as Sent
}

const checked = new Set<string>()

/** Calls an operation, compares status, headers and response with its table, and returns the response. */
async function call<T>(workspace: BuiltWorkspace, id: string, path: string, body?: unknown): Promise<T> {
  const table = operationTables.find((operation) => operation.id === id)
  if (!table) throw new Error(`No table has the operation ${id}`)
  const { status, headers, body: answer } = await send(workspace, table.method.toUpperCase(), path, body)
  expect([status, problems(id, answer, table.response)], JSON.stringify(answer).slice(0, 300)).toEqual([
    table.status,
    [],
  ])
  for (const name of rateLimitHeaders) expect(headers.get(name), name).toMatch(/^\d+$/)
  checked.add(id)
  return answer as T
}

const everything = {
  ...{ url, key: 'All', externalId: 'ext_all', tenantId: 't', trackConversion: true, expiresAt: '2099-01-01' },
  ...{ expiredUrl: url, password: 'secret', proxy: true, title: 'T', description: 'D', image: url, video: url },
  ...{ ios: url, android: url, geo: { DE: url }, comments: 'C', doIndex: true, publicStats: true },
  ...{ utm_source: 's', utm_medium: 'm', utm_campaign: 'c', utm_term: 't', utm_content: 'o' },
  testVariants: [50, 50].map((percentage, index) => ({ url: `${url}/${index}`, percentage })),
  ...{ testStartedAt: '2026-01-01', testCompletedAt: '2099-01-01' },
}

test('links, tags, folders, domains and customers respond as in the tables', async () => {
  const workspace = await buildWorkspace(platform)
  const tag = await call<{ id: string }>(workspace, 'createTag', '/tags', { name: 'a' })
  const folder = await call<{ id: string }>(workspace, 'createFolder', '/folders', { name: 'f' })
  await call(workspace, 'updateTag', `/tags/${tag.id}`, { color: 'red' })
  await call(workspace, 'updateFolder', `/folders/${folder.id}`, { accessLevel: null })
  await call(workspace, 'getTags', '/tags')
  await call(workspace, 'listFolders', '/folders')

  const plain = await call<{ id: string; key: string }>(workspace, 'createLink', '/links', { url })
  expect(plain.key).toHaveLength(randomKeyLength)
  const full = { ...everything, tagIds: [tag.id], folderId: folder.id }
  const link = await call<{ id: string }>(workspace, 'createLink', '/links', full)
  await call(workspace, 'getLinks', '/links')
  await call(workspace, 'getLinksCount', '/links/count?groupBy=domain')
  await call(workspace, 'getLinkInfo', `/links/info?linkId=${link.id}`)
  await call(workspace, 'upsertLink', '/links/upsert', { url: `${url}/new` })
  await call(workspace, 'updateLink', `/links/${link.id}`, { archived: true })
  const many = Array.from({ length: mostLinksInBulk }, (_, index) => (index === 1 ? {} : { url: `${url}/${index}` }))
  await call(workspace, 'bulkCreateLinks', '/links/bulk', many)
  expect((await send(workspace, 'POST', '/links/bulk', [...many, { url }])).status).toBe(422)
  await call(workspace, 'bulkUpdateLinks', '/links/bulk', {
    linkIds: ['link_unknown', link.id],
    data: { title: 'x' },
  })
  await call(workspace, 'bulkDeleteLinks', `/links/bulk?linkIds=${plain.id},link_unknown`)
  await call(workspace, 'deleteLink', `/links/${link.id}`)
  await call(workspace, 'deleteTag', `/tags/${tag.id}`)
  await call(workspace, 'deleteFolder', `/folders/${folder.id}`)

  const slug = `new.${workspace.domain}`
  await call(workspace, 'createDomain', '/domains', { slug })
  await call(workspace, 'updateDomain', `/domains/${slug}`, { placeholder: 'https://example.com' })
  await call(workspace, 'listDomains', '/domains')
  await call(workspace, 'checkDomainStatus', `/domains/status?domains=${slug},free.example.com`)
  await call(workspace, 'registerDomain', '/domains/register', { domain: `other.${workspace.domain}` })
  await call(workspace, 'deleteDomain', `/domains/${slug}`)
})

test('events, analytics, tracking and customers respond as in the tables', async () => {
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { ...everything, key: 'seen' })
  const [linkNumber] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
  const { id: clickId } = buildClick(platform, { number: owner.linkNumber, workspaceId: workspace.id, url: link.url })
  const person = { customerExternalId: 'ext_1', customerName: 'Ada', customerEmail: 'ada@example.com' }
  await call(workspace, 'trackLead', '/track/lead', { clickId, eventName: 'Sign up', ...person, metadata: { a: [1] } })
  await call(workspace, 'trackSale', '/track/sale', { customerExternalId: 'ext_1', amount: 100, invoiceId: 'i' })
  await call(workspace, 'trackSale', '/track/sale', { customerExternalId: 'nobody', amount: 100 })
  await call(workspace, 'createCustomer', '/customers', { externalId: 'c-2', email: 'bob@example.com' })
  await call(workspace, 'trackCustomer', '/track/customer', { customerId: 'c-3', customerName: 'Eve' })
  await call(workspace, 'getMetatags', '/metatags?url=http://localhost/')
  await call(workspace, 'getCustomers', '/customers')
  const [customer] = await call<{ id: string; externalId: string }[]>(
    workspace,
    'getCustomers',
    '/customers?includeExpandedFields=true&externalId=ext_1',
  )
  expect(customer?.externalId).toBe('ext_1')
  await call(workspace, 'getCustomer', `/customers/${customer?.id}?includeExpandedFields=true`)
  await call(workspace, 'getCustomer', '/customers/ext_ext_1')
  await call(workspace, 'updateCustomer', `/customers/${customer?.id}`, { country: 'de' })

  const deletedLink = { ...owner, linkNumber: 4_100_000_000n }
  const about = { customer_id: customer?.id, metadata: '{"plan":"pro"}' }
  await storeEvents(platform, {
    clicks: [clickRow(owner), clickRow(deletedLink)],
    leads: [leadRow(owner), leadRow(owner, about)],
    sales: [saleRow(owner), saleRow(deletedLink, about)],
  })
  for (const event of ['clicks', 'leads', 'sales']) {
    const events = await call<unknown[]>(workspace, 'listEvents', `/events?event=${event}&interval=all`)
    expect(events.length, event).toBeGreaterThanOrEqual(2)
  }
  await call(workspace, 'retrieveAnalytics', '/analytics?groupBy=top_links')
  await call(workspace, 'deleteCustomer', `/customers/${customer?.id}`)
  for (const event of ['leads', 'sales']) await call(workspace, 'listEvents', `/events?event=${event}&interval=all`)
})

test('webhooks respond as in the tables', async () => {
  const workspace = await buildWorkspace(platform)
  const webhook = { name: 'w', url: 'https://localhost/', triggers: ['link.created'] }
  const { body } = await send(workspace, 'POST', '/webhooks', webhook)
  await call(workspace, 'listWebhooks', '/webhooks?sortBy=name&sortOrder=desc&page=1&pageSize=100')
  await call(
    workspace,
    'listWebhookDeliveries',
    `/webhooks/${(body as { id: string }).id}/deliveries?page=1&pageSize=100`,
  )
})

test('every operation of the tables was called', () => {
  expect([...checked].sort()).toEqual(operationTables.map(({ id }) => id).sort())
})

test('errors have the error envelope, the code of their status, and the headers', async () => {
  const workspace = await buildWorkspace(platform, { plan: 'pro' })
  const nobody = { key: 'trib_unknown' }
  const cases: [string, Promise<Sent>][] = [
    ['bad_request', send(workspace, 'POST', '/links', {})],
    ['unauthorized', send(nobody, 'GET', '/links')],
    ['unauthorized', send(nobody, 'GET', '/no/such/path')],
    ['forbidden', send(workspace, 'GET', '/events')],
    ['not_found', send(workspace, 'GET', '/links/info?linkId=link_unknown')],
    ['not_found', send(workspace, 'GET', '/no/such/path')],
    ['conflict', send(workspace, 'POST', '/domains', { slug: (await buildWorkspace(platform)).domain })],
    ['unprocessable_entity', send(workspace, 'GET', '/links?pageSize=101')],
  ]
  for (const [code, sent] of cases) {
    const { status, headers, body } = await sent
    expect([status, problems(code, body, object('Error'))]).toEqual([errorCodes[code], []])
    expect(body).toMatchObject({ error: { code } })
    if (code !== 'unauthorized') for (const name of rateLimitHeaders) expect(headers.get(name)).toMatch(/^\d+$/)
  }
  const many = await Promise.all(Array.from({ length: 10 }, () => send(workspace, 'GET', '/analytics')))
  const limited = many.find(({ status }) => status === errorCodes.rate_limit_exceeded)
  expect(problems('429', limited?.body, object('Error'))).toEqual([])
  expect(limited?.headers.get('x-ratelimit-limit')).toBe(String(analyticsLimits.pro))
  expect(limited?.headers.get('x-ratelimit-remaining')).toBe('0')
  expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
})

test('plans have the rate limits of the specification', () => {
  for (const [plan, limit] of Object.entries(planLimits)) {
    const allowance = findAllowance(plan as keyof typeof planLimits, 'standard', platform.config)
    expect(allowance, plan).toEqual({ limit, windowSeconds: 60 })
  }
  for (const [plan, limit] of Object.entries(analyticsLimits)) {
    const allowance = findAllowance(plan as keyof typeof analyticsLimits, 'analytics', platform.config)
    expect(allowance, plan).toEqual({ limit, windowSeconds: 1 })
  }
})

test('events and analytics return 403 to lower plans', async () => {
  for (const id of ['listEvents', 'retrieveAnalytics']) {
    const lowest = plans.indexOf(planGates[id] as (typeof plans)[number])
    const path = operationTables.find((operation) => operation.id === id)?.path as string
    for (const [index, plan] of plans.entries()) {
      const { status } = await send(await buildWorkspace(platform, { plan }), 'GET', path)
      expect(status, `${id} on ${plan}`).toBe(index < lowest ? 403 : 200)
    }
  }
})

test('the comparison reports what is not in the specification', () => {
  const link = { id: 'link_1', domain: 'a', extra: 1, expiresAt: null, clicks: '1' }
  const found = problems('answer', [link], list(object('Link')))
  expect(found).toContain('answer[0] (Link) has the extra key extra')
  expect(found).toContain('answer[0] (Link) lacks the key url')
  expect(found).toContain('answer[0] (Link).expiresAt is null')
  expect(found).toContain('answer[0] (Link).clicks is "1", not a number')
})
