import { randomUUID } from 'node:crypto'
import { jetstream } from '@nats-io/jetstream'
import { Dub } from 'dub'
import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import { changeStream } from '../server/src/platform/nats.ts'
import { browser, buildLink, buildWorkspace } from '../server/test/build.ts'
import { findTables } from '../server/test/find-text.ts'
import { startServer } from '../server/test/server-process.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'

const platform = await openTestPlatform()
const { redirect } = inject('server')

/** Finds a text in every table of PostgreSQL and ClickHouse, and in NATS messages. */
async function findEverywhere(text: string): Promise<string[]> {
  return [...(await findTables(platform, text)), ...((await isInLog(text)) ? ['NATS'] : [])]
}

/** Counts stored responses; erasure replaces a stored response by an error. */
async function countStoredAnswers(workspaceId: string): Promise<number> {
  const found = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM idempotency_keys WHERE workspace_id = ${workspaceId} AND status < 400`.execute(
    platform.db,
  )
  return found.rows[0]?.count ?? 0
}

async function isInLog(text: string): Promise<boolean> {
  const consumer = await jetstream(platform.nats).consumers.get(changeStream)
  const { num_pending } = await consumer.info()
  if (num_pending === 0) return false
  const messages = await consumer.consume()
  let left = num_pending
  for await (const message of messages) {
    if (message.string().includes(text)) return true
    left -= 1
    if (left === 0) break
  }
  return false
}

test('a deleted customer is erased everywhere, and the events stay without personal data', async () => {
  const server = await startServer({ ...inject('environment'), ROLES: 'api', LOG_LEVEL: 'debug' })
  onTestFinished(async () => void (await server.stop()))
  const workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace, { key: 'spring', trackConversion: true })
  const client = new Dub({ token: workspace.key, serverURL: server.api })
  const mark = randomUUID().slice(0, 13)
  const person = {
    customerExternalId: `external-${mark}`,
    customerName: `Name ${mark}`,
    customerEmail: `mail-${mark}@example.com`,
    customerAvatar: `https://example.com/${mark}.png`,
  }
  const metadata = { note: `note-${mark}` }
  const { headers } = await visit(`${redirect}/spring`, { host: workspace.domain, 'user-agent': browser })
  const clickId = new URL(String(headers.location)).searchParams.get('trib_id') as string
  const options = { headers: { 'Idempotency-Key': randomUUID() } }
  await client.track.lead({ clickId, eventName: 'Sign up', ...person, metadata }, { fetchOptions: options })
  const sale = { customerExternalId: person.customerExternalId, amount: 500, invoiceId: randomUUID(), metadata }
  await client.track.sale(sale, { fetchOptions: { headers: { 'Idempotency-Key': randomUUID() } } })
  const everywhere = [
    'PostgreSQL customers',
    'PostgreSQL conversions',
    'ClickHouse lead_events',
    'ClickHouse sale_events',
  ]
  await eventually(async () => expect(await findEverywhere(mark)).toEqual(expect.arrayContaining(everywhere)), 30_000)
  // Stored responses are encrypted, so the text search does not find them.
  expect(await countStoredAnswers(workspace.id)).toBe(2)
  expect(await findEverywhere(workspace.id)).toContain('NATS')

  const { id } = await client.customers.delete(`ext_${person.customerExternalId}`)
  await eventually(async () => expect(await findEverywhere(mark)).toEqual([]), 60_000)
  expect(await countStoredAnswers(workspace.id)).toBe(0)

  const events = await Promise.all(
    (['leads', 'sales'] as const).map((event) => client.events.list({ event, interval: '24h' })),
  )
  const nobody = { id, name: 'Deleted customer', email: null, avatar: null, externalId: '', stripeCustomerId: null }
  for (const list of events) {
    expect(list).toMatchObject([{ link: { id: link.id }, customer: nobody }])
    expect(JSON.stringify(list)).not.toContain(mark)
  }
  await expect(client.customers.get({ id: `ext_${person.customerExternalId}` })).rejects.toMatchObject({
    statusCode: 404,
  })
  await server.stop()
  expect(server.log.join('\n')).not.toContain(mark)
})
