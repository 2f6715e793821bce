import { randomInt, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { startEngines } from '../engines/start.ts'
import { runMaturing } from '../server/src/features/commissions/mature.ts'
import { verifyMoney } from '../server/src/maintenance/money.ts'
import type { Platform } from '../server/src/platform/context.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { buildWorkspace } from '../server/test/build.ts'
import { createDatabases } from '../server/test/own-database.ts'
import { startServer } from '../server/test/server-process.ts'
import { sized } from '../server/test/size.ts'
import { openTestPlatform } from '../server/test/stack.ts'
import { drain } from './money/check.ts'
import { openRequests, pick, type Request, runClients } from './money/clients.ts'

const { seconds, others } = sized({ short: { seconds: 12, others: 20 }, full: { seconds: 60, others: 80 } })
const clients = 64

test('64 clients change one partner at the same time: no deadlock, no failure, and every sum is right', async () => {
  const engines = await startEngines({ only: ['nats', 'valkey'] })
  const environment = {
    ...inject('environment'),
    ...engines.urls,
    ...(await createDatabases()),
    ENTERPRISE_REQUESTS_PER_MINUTE: '1000000',
  }
  const platform = await openTestPlatform(environment)
  await migrate(platform.config, platform.clickhouse, () => {})
  const servers = await Promise.all([
    startServer({ ...environment, ROLES: 'api' }),
    startServer({ ...environment, ROLES: 'worker' }),
  ])
  try {
    const workspace = await buildWorkspace(platform)
    const { request, tally } = openRequests(servers[0].api, workspace.key)
    const scene = await buildScene(request, workspace.domain)
    const before = await countDeadlocks(platform)
    await runClients([...actionsOn(scene, request), { weight: 1, run: mature }], { clients, seconds })
    for (const end of ['unban', 'reactivate']) await request('POST', `/partners/${end}`, { partnerId: scene.partnerId })
    for (const other of scene.others) await request('POST', '/partners/merge', mergeBody(scene, other))
    await drain(platform, 120_000)

    console.info(Object.fromEntries([...tally.byStatus].sort()), `slowest ${Math.round(tally.worstMs)} ms`)
    expect(tally.failures).toEqual([])
    expect((await countDeadlocks(platform)) - before, 'deadlocks').toBe(0)
    expect(await verifyMoney(platform, { workspaceId: workspace.id })).toEqual([])
    expect(await readFigures(request, scene.partnerId)).toEqual(await sumSold(scene, request))
    for (const status of [200, 201, 400])
      expect([...tally.byStatus.keys()].join(), String(status)).toContain(` ${status}`)

    function mature() {
      return runMaturing(platform, new Date(Date.now() + 1_000), { workspaceIds: [workspace.id] })
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await engines.stop()
  }
}, 400_000)

type Scene = {
  partnerId: string
  groupIds: string[]
  rewardIds: string[]
  tagIds: string[]
  /** Partners that are merged into the one, with the customers that they bring. */
  others: string[]
  customers: string[]
  /** What is left of each accepted sale. */
  sales: Map<string, number>
  commissionIds: string[]
}

async function buildScene(request: Request, domain: string): Promise<Scene> {
  const create = async (path: string, body: object) => String((await request('POST', path, body)).body.id)
  await create('/programs', { name: 'Friends', domain, url: 'https://example.com' })
  const groupIds = await Promise.all(['one', 'two'].map((slug) => create('/groups', { name: slug, slug })))
  const limit = { spendLimitAmount: 5_000_000, spendLimitInterval: 'day', spendLimitScope: 'program' }
  const terms = { event: 'sale', type: 'percentage', amountInPercentage: 10, ...limit }
  const rewardIds = await Promise.all(groupIds.map((groupId) => create('/rewards', { groupId, ...terms })))
  const tagIds = await Promise.all(['gold', 'silver'].map((name) => create('/partner-tags', { name })))
  const customers: string[] = []
  const join = async (name: string, count: number) => {
    const partnerId = await create('/partners', { email: `${name}@example.com`, name, groupId: groupIds[0] })
    const { body: links } = await request('GET', `/partners/links?partnerId=${partnerId}`)
    if (links.length === 0) await create('/partners/links', { partnerId })
    for (let number = 0; number < count; number++) {
      const externalId = `${name}-${number}`
      const customer = { externalId, country: 'DE' }
      await request('POST', '/commissions', { type: 'lead', partnerId, customer })
      customers.push(externalId)
    }
    return partnerId
  }
  const partnerId = await join('ada', 20)
  const named = Array.from({ length: others }, (_, number) => `other-${number}`)
  const joined: string[] = []
  for (const name of named) joined.push(await join(name, 2))
  return { partnerId, groupIds, rewardIds, tagIds, others: joined, customers, sales: new Map(), commissionIds: [] }
}

function mergeBody({ partnerId }: Scene, other: string) {
  return { sourcePartnerId: other, targetPartnerId: partnerId }
}

function actionsOn(scene: Scene, request: Request): { weight: number; run(): Promise<unknown> }[] {
  const { partnerId, groupIds, rewardIds, tagIds, customers, sales, others } = scene
  const post = (path: string, body: object) => request('POST', path, { partnerId, ...body })
  const read = (path: string) => request('GET', path)
  const anyCommission = () => pick(scene.commissionIds) ?? 'cm_unknown'
  const patchCommission = (body: object) => request('PATCH', `/commissions/${anyCommission()}`, body)
  return [
    { weight: 40, run: () => sell(scene, request) },
    { weight: 10, run: () => refund(sales, request) },
    { weight: 3, run: () => request('PATCH', `/rewards/${pick(rewardIds)}`, anyTerms()) },
    { weight: 4, run: () => patchCommission({ status: pick(['pending', 'fraud', 'canceled', 'duplicate']) }) },
    { weight: 4, run: () => patchCommission({ saleAmount: randomInt(10_000) }) },
    { weight: 2, run: () => patchCommission({ modifySaleAmount: randomInt(-500, 500) }) },
    { weight: 2, run: () => patchCommission({ earnings: randomInt(1_000) }) },
    {
      weight: 3,
      run: () =>
        request('PATCH', '/commissions/bulk', {
          commissionIds: Array.from({ length: 10 }, anyCommission),
          status: pick(['pending', 'duplicate']),
        }),
    },
    { weight: 2, run: () => post('/commissions', { type: 'custom', amount: randomInt(-50, 50), description: 'test' }) },
    { weight: 1, run: () => post('/partners/ban', { reason: 'spam' }) },
    { weight: 4, run: () => post('/partners/unban', { restoreCommissions: Math.random() < 0.5 }) },
    { weight: 1, run: () => post('/partners/deactivate', {}) },
    { weight: 4, run: () => post('/partners/reactivate', {}) },
    { weight: 2, run: () => post('/partners/archive', { archived: Math.random() < 0.5 }) },
    { weight: 2, run: () => request('POST', `/groups/${pick(groupIds)}/partners`, { partnerIds: [partnerId] }) },
    { weight: 2, run: () => request('PATCH', `/partners/${partnerId}`, { tagIds: tagIds.slice(randomInt(3)) }) },
    {
      weight: 1,
      run: () => request('POST', '/partners/bulk', { action: 'archive', partnerIds: [partnerId, ...others] }),
    },
    { weight: 2, run: () => request('POST', '/partners/merge', mergeBody(scene, pick(others))) },
    { weight: 2, run: () => post('/partners/links', {}) },
    { weight: 1, run: () => request('PUT', '/partners/links/upsert', { partnerId, url: 'https://example.com/page' }) },
    { weight: 6, run: () => refreshCommissions(scene, request) },
    { weight: 1, run: () => read(`/commissions/${anyCommission()}/explanation`) },
    { weight: 1, run: () => read(`/partners/${partnerId}`) },
    { weight: 1, run: () => read('/partners') },
    { weight: 1, run: () => read(`/ledger/postings?partnerId=${partnerId}`) },
    { weight: 1, run: () => read('/ledger/balances') },
    { weight: 1, run: () => read(`/customers?search=${pick(customers)}`) },
  ]
}

function anyTerms(): object {
  return { amountInPercentage: randomInt(1, 30), applyTo: pick(['newCustomers', 'allFutureSales']) }
}

async function sell({ customers, sales }: Scene, request: Request): Promise<void> {
  const sale = { customerExternalId: pick(customers), amount: randomInt(100, 10_000), invoiceId: randomUUID() }
  const { status } = await request('POST', '/track/sale', sale)
  if (status === 200) sales.set(sale.invoiceId, sale.amount)
}

async function refund(sales: Map<string, number>, request: Request): Promise<void> {
  const invoiceId = pick([...sales.keys()].slice(-500))
  if (!invoiceId) return
  const amount = Math.random() < 0.3 ? undefined : randomInt(1, 3_000)
  const { status, body } = await request('POST', '/track/refund', { invoiceId, amount, refundId: randomUUID() })
  const refunded = body.refund as unknown as { amount: number }
  if (status === 200) sales.set(invoiceId, (sales.get(invoiceId) ?? 0) - refunded.amount)
}

async function refreshCommissions(scene: Scene, request: Request): Promise<void> {
  const order = pick(['asc', 'desc'])
  const { status, body } = await request('GET', `/commissions?pageSize=100&sortOrder=${order}`)
  if (status === 200) scene.commissionIds = body.map((commission) => (commission as { id: string }).id)
}

async function countDeadlocks({ db }: Platform): Promise<number> {
  const result = await sql<{ deadlocks: bigint }>`SELECT deadlocks FROM pg_stat_database
    WHERE datname = current_database()`.execute(db)
  return Number(result.rows[0]?.deadlocks)
}

/** The partner's figures as the API says them. */
async function readFigures(request: Request, partnerId: string) {
  const { body: partner } = await request('GET', `/partners/${partnerId}`)
  const { body: ledger } = await request('GET', `/ledger/balances?partnerId=${partnerId}`)
  const balances = ledger.balances as { balance: number }[]
  const { totalSales: sales, totalSaleAmount: saleAmount, totalCommissions: commissions } = partner
  return { sales, saleAmount, commissions, owed: -balances.reduce((sum, { balance }) => sum + balance, 0) }
}

/** The same figures as plain sums of the accepted sales and of all commissions. */
async function sumSold({ sales }: Scene, request: Request) {
  const left = [...sales.values()]
  let commissions = 0
  for (let page = 1; ; page++) {
    const { body } = await request('GET', `/commissions?pageSize=100&page=${page}`)
    for (const { status, earnings } of body as unknown as { status: string; earnings: number }[])
      if (['pending', 'hold', 'processed', 'paid'].includes(status)) commissions += earnings
    if (body.length < 100) break
  }
  const [count, saleAmount] = [
    left.filter((amount) => amount > 0).length,
    left.reduce((sum, amount) => sum + amount, 0),
  ]
  return { sales: count, saleAmount, commissions, owed: commissions }
}
