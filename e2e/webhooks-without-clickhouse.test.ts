import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@tributary/contract/client'
import { createLink } from '@tributary/contract/links'
import { trackLead, trackSale } from '@tributary/contract/track'
import { createWebhook, listDeliveries } from '@tributary/contract/webhooks'
import { expect, inject, test } from 'vitest'
import { createDatabase } from '../engines/postgres.ts'
import { startEngines } from '../engines/start.ts'
import { migrate } from '../server/src/platform/migrate.ts'
import { browser, buildWorkspace } from '../server/test/build.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { allowLoopback, startReceiver } from '../server/test/webhooks.ts'

type Delivered = {
  event: string
  data: { key?: string; customer?: { externalId: string }; click?: { device: string } }
}

test('with ClickHouse stopped, events of links and of known clicks are delivered; others report what they wait for', async () => {
  await using parts = new AsyncDisposableStack()
  const engines = await startEngines({ only: ['nats', 'clickhouse'] })
  parts.defer(() => engines.stop())
  const folder = await mkdtemp(join(tmpdir(), 'tributary-webhooks-'))
  parts.defer(() => rm(folder, { recursive: true, force: true }))
  const POSTGRES_URL = await createDatabase(inject('environment').POSTGRES_URL as string, `webhooks_${Date.now()}`)
  const installation = { ...inject('environment'), ...engines.urls, POSTGRES_URL, SPOOL_DIRECTORY: folder }
  const platform = await openTestPlatform(installation)
  await migrate(platform.config, platform.clickhouse, () => {})
  const server = await startServer({ ...installation, ...allowLoopback })
  parts.defer(async () => void (await server.stop()))
  const receiver = parts.use(await startReceiver((response) => void response.writeHead(204).end()))
  const workspace = await buildWorkspace(platform)
  const call = createClient({ url: server.api, token: workspace.key })
  const triggers = ['link.created', 'lead.created', 'sale.created'] as const
  const webhook = await call(createWebhook, { body: { name: 'all', url: receiver.url, triggers: [...triggers] } })
  const delivered = () => receiver.heard.map(({ body }) => JSON.parse(body) as Delivered)
  const of = (event: string, customer: string) =>
    delivered().find(({ event: name, data }) => name === event && data.customer?.externalId === customer)
  const newLink = async (key: string) => {
    const body = { url: 'https://example.com/', domain: workspace.domain, key, trackConversion: true }
    await call(createLink, { body })
    await eventually(async () => expect(delivered().some(({ data }) => data.key === key)).toBe(true), 30_000)
  }
  const signUp = async (key: string, customerExternalId: string) => {
    const { headers } = await visit(`${server.redirect}/${key}`, { host: workspace.domain, 'user-agent': browser })
    const clickId = new URL(String(headers.location)).searchParams.get('trib_id') as string
    await call(trackLead, { body: { clickId, eventName: 'Sign up', customerExternalId } })
  }

  await newLink('before')
  await signUp('before', 'known')
  await eventually(async () => expect(of('lead.created', 'known')).toBeDefined(), 60_000)

  engines.processes.clickhouse?.kill('SIGKILL')
  await newLink('meanwhile')
  await call(trackSale, { body: { customerExternalId: 'known', amount: 1_000, invoiceId: 'in_1' } })
  await eventually(async () => expect(of('sale.created', 'known')?.data.click?.device).toBe('Desktop'), 30_000)
  await signUp('meanwhile', 'unknown')
  await eventually(async () => {
    const waiting = await call(listDeliveries, { params: { id: webhook.id }, query: { status: 'pending' } })
    expect(waiting).toMatchObject([{ event: 'lead.created', waitingFor: 'click', attempts: 0, responseStatus: null }])
  }, 30_000)

  await engines.processes.clickhouse?.restart()
  await eventually(async () => expect(of('lead.created', 'unknown')?.data.click?.device).toBe('Desktop'), 90_000)
  expect(delivered()).toHaveLength(5)
}, 300_000)
