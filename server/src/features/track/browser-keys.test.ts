import { sql } from 'kysely'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { startServer } from '../../../test/server-process.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { visit } from '../../../test/visit.ts'
import { createToken } from '../tokens/service.ts'
import { changeWorkspace } from '../workspaces/service.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')
const ours = { origin: 'https://shop.example' }
const person = { customerName: 'Ada Example', customerEmail: 'ada@example.com' }

/** Creates a workspace with an allowed hostname, a publishable key and a click on a link. */
async function prepare(allowed_hostnames = ['shop.example']) {
  const workspace = await buildWorkspace(platform)
  await changeWorkspace(platform, workspace.id, { allowed_hostnames })
  const token = await createToken(platform, { workspaceId: workspace.id, name: 'page', isPublishable: true })
  const link = await buildLink(platform, workspace, { key: 'spring', trackConversion: true })
  const { headers } = await visit(`${redirect}/spring`, {
    host: link.domain,
    'user-agent': 'Mozilla/5.0 Firefox/143.0',
  })
  const clickId = new URL(headers.location ?? '').searchParams.get('trib_id')
  return { workspace, token, link, clickId }
}

async function call(key: string, path: string, body: object, headers: Record<string, string> = ours, base = api) {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, headers: response.headers, body: (await response.json()) as object }
}

const lead = (clickId: string | null) => ({ clickId, eventName: 'Sign up', customerExternalId: 'c-1', ...person })

describe('a publishable key', () => {
  test('a publishable key reports leads and sales from its pages, which can read the response', async () => {
    const { workspace, token, link, clickId } = await prepare()
    expect(token.key).toMatch(/^trib_pk_[A-Za-z0-9]{32}$/)
    const tracked = await call(token.key, '/track/lead', lead(clickId))
    expect(tracked).toMatchObject({ status: 200, body: {} })
    expect(tracked.headers.get('access-control-allow-origin')).toBe('*')
    expect(tracked.headers.get('x-ratelimit-limit')).toBe('120')
    await call(token.key, '/track/sale', { customerExternalId: 'c-1', amount: 1_999, invoiceId: 'i-1' })
    expect(await conversionsIn(workspace)).toEqual([
      { kind: 'lead', amount: 0n, invoice_id: null, from_page: true, is_full: false },
      { kind: 'sale', amount: 1_999n, invoice_id: 'i-1', from_page: true, is_full: false },
    ])
    const customer = await fetch(`${api}/customers/ext_c-1?includeExpandedFields=true`, {
      headers: { authorization: `Bearer ${workspace.key}` },
    })
    expect(await customer.json()).toMatchObject({ name: person.customerName, link: { id: link.id } })
  })

  test.each<[string, (clickId: string | null) => [path: string, body: object]]>([
    ['a new lead', (clickId) => ['/track/lead', { ...lead(clickId), eventName: 'Trial' }]],
    ['a repeated lead', (clickId) => ['/track/lead', lead(clickId)]],
    ['a lead of a customer without a click id', () => ['/track/lead', { ...lead(null), clickId: '' }]],
    ['a lead of an unknown customer', () => ['/track/lead', { ...lead(null), clickId: '', customerExternalId: 'c-2' }]],
    ['a lead with an unknown click', () => ['/track/lead', lead('a'.repeat(40))]],
    ['a new sale', () => ['/track/sale', { customerExternalId: 'c-1', amount: 5, invoiceId: 'i-2' }]],
    ['an existing invoice', () => ['/track/sale', { customerExternalId: 'c-1', amount: 5, invoiceId: 'i-1' }]],
    ['a sale of an unknown customer', () => ['/track/sale', { customerExternalId: 'c-2', amount: 5 }]],
    ['a sale with an unknown click', () => ['/track/sale', { customerExternalId: 'c-1', amount: 5, clickId: 'x' }]],
    [
      'a sale of an unknown lead',
      () => ['/track/sale', { customerExternalId: 'c-1', amount: 5, leadEventName: 'None' }],
    ],
  ])('a publishable key gets the same response for %s', async (_name, request) => {
    const { workspace, token, clickId } = await prepare()
    await call(workspace.key, '/track/lead', lead(clickId))
    await call(workspace.key, '/track/sale', { customerExternalId: 'c-1', amount: 1_999, invoiceId: 'i-1' })
    const [path, body] = request(clickId)
    for (const headers of [ours, { ...ours, 'idempotency-key': 'one' }, { ...ours, 'idempotency-key': 'one' }]) {
      const answered = await call(token.key, path, body, headers)
      expect([answered.status, answered.body]).toEqual([200, {}])
      expect(answered.headers.has('idempotency-replayed')).toBe(false)
    }
  })

  test('a publishable key gets errors only for invalid requests', async () => {
    const { workspace, token, clickId } = await prepare()
    await call(workspace.key, '/track/lead', lead(clickId))
    await call(workspace.key, '/track/sale', { customerExternalId: 'c-1', amount: 1_999, invoiceId: 'i-1' })
    for (const invoiceId of ['i-1', 'i-2']) {
      const sale = { customerExternalId: 'c-1', amount: 5, currency: 'xxx', invoiceId }
      expect((await call(token.key, '/track/sale', sale)).status).toBe(422)
    }
  })

  test('a lead or sale from a page that is not recorded leaves no rows', async () => {
    const { workspace, token, clickId } = await prepare()
    const sale = { customerExternalId: 'c-9', amount: 5, clickId: 'x' }
    await call(token.key, '/track/sale', sale, { ...ours, 'idempotency-key': 'one' })
    await call(token.key, '/track/lead', { ...lead(clickId), clickId: 'x' }, { ...ours, 'idempotency-key': 'two' })
    const response = await fetch(`${api}/customers`, { headers: { authorization: `Bearer ${workspace.key}` } })
    expect(await response.json()).toEqual([])
  })

  test('two visitors of a page can send the same Idempotency-Key', async () => {
    const { workspace, token, clickId } = await prepare()
    const headers = { ...ours, 'idempotency-key': 'order-1' }
    await call(token.key, '/track/lead', { ...lead(clickId), customerExternalId: 'c-7' }, headers)
    expect(await call(token.key, '/track/lead', lead(clickId), headers)).toMatchObject({ status: 200 })
    expect(await conversionsIn(workspace)).toHaveLength(2)
    // The Idempotency-Keys of requests with a secret key are separate, too.
    const sent = await call(workspace.key, '/track/lead', lead(clickId), headers)
    expect(sent).toMatchObject({ status: 200, body: { click: { id: clickId } } })
    expect(sent.headers.has('idempotency-replayed')).toBe(false)
  })

  test.each<Record<string, string>>([{}, { origin: 'https://evil.example' }, { origin: 'null' }])(
    'is refused from another origin: %j',
    async (headers) => {
      const { token, clickId } = await prepare()
      const { status, body } = await call(token.key, '/track/lead', lead(clickId), headers)
      expect({ status, body }).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } })
    },
  )

  test('a publishable key gets 403 until the workspace has allowed hostnames', async () => {
    const { token, clickId } = await prepare([])
    expect(await call(token.key, '/track/lead', lead(clickId))).toMatchObject({
      status: 403,
      body: {
        error: {
          message: `A publishable key works once its workspace has allowed hosts: enter them at Settings → Tracking, or run tributary workspace set <workspace> --allowed-hostnames <hostnames of your sites>.`,
        },
      },
    })
  })

  test('a publishable key can not call other operations', async () => {
    const { token } = await prepare()
    const headers = { authorization: `Bearer ${token.key}`, ...ours }
    expect((await fetch(`${api}/links`, { headers })).status).toBe(403)
    expect((await fetch(`${api}/events`, { headers })).status).toBe(403)
    expect(await call(token.key, '/track/refund', { invoiceId: 'i-1' })).toMatchObject({
      status: 403,
      body: {
        error: { message: '/track/refund is not for publishable keys. Call it from your server, with a secret key.' },
      },
    })
  })
})

describe('an invoice that a page has reported', () => {
  const real = { customerExternalId: 'c-1', amount: 4_900, invoiceId: 'i-1' }

  test("a page's sale is replaced by the sale that a secret key reports for the invoice", async () => {
    const { workspace, token, clickId } = await prepare()
    await call(workspace.key, '/track/lead', lead(clickId))
    await call(token.key, '/track/sale', { ...real, amount: 1 })
    const sold = await call(workspace.key, '/track/sale', real)
    expect(sold).toMatchObject({ status: 200, body: { sale: { amount: 4_900, invoiceId: 'i-1' } } })
    expect(await call(workspace.key, '/track/sale', { ...real, amount: 7 })).toMatchObject({ body: sold.body })
    expect(await conversionsIn(workspace)).toEqual([
      { kind: 'lead', amount: 0n, invoice_id: null, from_page: false, is_full: false },
      { kind: 'sale', amount: 1n, invoice_id: 'i-1', from_page: true, is_full: false },
      { kind: 'refund', amount: -1n, invoice_id: 'i-1', from_page: false, is_full: true },
      { kind: 'sale', amount: 4_900n, invoice_id: 'i-1', from_page: false, is_full: false },
    ])
    const customer = await fetch(`${api}/customers/ext_c-1`, { headers: { authorization: `Bearer ${workspace.key}` } })
    expect(await customer.json()).toMatchObject({ sales: 1, saleAmount: 4_900 })
    const refund = await call(workspace.key, '/track/refund', { invoiceId: 'i-1' })
    expect(refund).toMatchObject({ status: 200, body: { refund: { amount: 4_900, isFull: true } } })
  })

  test("a page's sale changes nothing after a secret key has reported the invoice", async () => {
    const { workspace, token, clickId } = await prepare()
    await call(workspace.key, '/track/lead', lead(clickId))
    await call(workspace.key, '/track/sale', real)
    await call(token.key, '/track/sale', { ...real, amount: 1 })
    expect((await conversionsIn(workspace)).map(({ amount }) => amount)).toEqual([0n, 4_900n])
  })

  test('an invoice that a page and a secret key report at the same time counts once', async () => {
    const { workspace, token, clickId } = await prepare()
    await call(workspace.key, '/track/lead', lead(clickId))
    await Promise.all([
      ...Array.from({ length: 4 }, () => call(token.key, '/track/sale', { ...real, amount: 1 })),
      ...Array.from({ length: 4 }, () => call(workspace.key, '/track/sale', real)),
    ])
    const total = (await conversionsIn(workspace)).reduce((sum, { amount }) => sum + amount, 0n)
    expect(total).toBe(4_900n)
  })
})

test("one visitor of a page does not use up the other visitors' rate limit", async () => {
  const { token, clickId } = await prepare()
  const { api } = await serverBehindProxy({ PUBLISHABLE_VISITOR_REQUESTS_PER_MINUTE: '5' })
  const from = (address: string) =>
    call(token.key, '/track/lead', lead(clickId), { ...ours, ...forwarded(address) }, api).then(({ status }) => status)
  const noisy = await Promise.all(Array.from({ length: 20 }, () => from('192.0.2.1')))
  expect(noisy.filter((status) => status === 429)).toHaveLength(15)
  expect(await from('192.0.2.2')).toBe(200)
  // All IPv6 addresses of a /64 network count as one visitor.
  const moving = await Promise.all(Array.from({ length: 6 }, (_, host) => from(`2001:db8::${host + 1}`)))
  expect(moving.filter((status) => status === 429)).toHaveLength(1)
})

test('all visitors of a publishable key also share a rate limit', async () => {
  const { token, clickId } = await prepare()
  const { api } = await serverBehindProxy({ PUBLISHABLE_KEY_REQUESTS_PER_MINUTE: '5' })
  const statuses = await Promise.all(
    Array.from({ length: 8 }, async (_, host) => {
      const headers = { ...ours, ...forwarded(`192.0.2.${host + 1}`) }
      return (await call(token.key, '/track/lead', lead(clickId), headers, api)).status
    }),
  )
  expect(statuses.filter((status) => status === 429)).toHaveLength(3)
})

async function serverBehindProxy(settings: Record<string, string>) {
  const environment = { ...inject('environment'), ROLES: 'api', TRUSTED_PROXIES: '127.0.0.1', ...settings }
  const server = await startServer(environment)
  onTestFinished(async () => void (await server.stop()))
  return server
}

function forwarded(address: string) {
  return { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' }
}

async function conversionsIn({ id }: { id: string }) {
  const result = await sql<{ kind: string; amount: bigint; invoice_id: string | null; from_page: boolean }>`
    SELECT kind, amount, invoice_id, from_page, is_full FROM conversions WHERE workspace_id = ${id}
    ORDER BY number`.execute(platform.db)
  return result.rows
}

test('a secret key works without allowed hostnames', async () => {
  const { workspace, clickId }: { workspace: BuiltWorkspace; clickId: string | null } = await prepare()
  expect((await call(workspace.key, '/track/lead', lead(clickId), {})).status).toBe(200)
})
