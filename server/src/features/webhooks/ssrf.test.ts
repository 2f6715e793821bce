import { sql } from 'kysely'
import { afterAll, expect, inject, test } from 'vitest'
import { buildWorkspace } from '../../../test/build.ts'
import { setZone, startDnsServer } from '../../../test/dns-server.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { spellings } from '../../../test/spellings.ts'
import { buildWebhook, queueEvents, startReceiver } from '../../../test/webhooks.ts'
import { readConfig } from '../../platform/config.ts'
import type { Platform } from '../../platform/context.ts'
import { deliver, takeDue } from './deliver.ts'
import { openSlots } from './slots.ts'
import type { WebhookRow } from './store.ts'

// 127.0.0.2 plays the public internet; webhooks must not reach any other address of this machine.
const everyPort = { OUTBOUND_ALLOWED_PORTS: '1-65535' }
const onlyFriend = { ...everyPort, OUTBOUND_ALLOWED_HOSTS: '127.0.0.2' }
const dns = await startDnsServer()
afterAll(() => dns[Symbol.asyncDispose]())
const strict = await openOwnDatabase({ ...everyPort, DNS_SERVERS: dns.address })
const platform = {
  ...strict,
  config: readConfig({ ...inject('environment'), ...onlyFriend, DNS_SERVERS: dns.address }),
}

test('no spelling of a loopback address lets a webhook call a canary server on it', async () => {
  await using canary = await startReceiver()
  await using sixth = await startReceiver(undefined, '::1').catch(() => startReceiver())
  const { id } = await buildWorkspace(strict)
  const addresses = [canary.port, sixth.port].flatMap((port) =>
    spellings.map(([spelling]) => spelling.replaceAll('{p}', String(port))),
  )
  for (const name of namesIn(addresses)) await setZone(dns, name, [{ type: 'A', data: '127.0.0.1' }])
  const webhooks = await Promise.all([...new Set(addresses)].map((url) => buildWebhook(strict, id, { url })))
  await queueEvents(strict, webhooks)
  await deliverAll(strict)
  expect([canary.heard, sixth.heard]).toEqual([[], []])
  expect(await answersIn(strict, id)).toEqual(Array(webhooks.length).fill(null))
})

test('DNS rebinding between or during calls does not reach the canary server', async () => {
  const { id } = await buildWorkspace(platform)
  await using friend = await startReceiver(undefined, '127.0.0.2')
  await using canary = await startReceiver(undefined, '127.0.0.1', friend.port)
  const webhook = await buildWebhook(platform, id, { url: `http://rebind.example:${friend.port}/` })

  await lead('127.0.0.2')
  await queueEvents(platform, [webhook])
  await deliverAll(platform)
  expect(friend.heard).toHaveLength(1)
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '10.0.0.1', '169.254.169.254']) {
    await lead(address)
    await queueEvents(platform, [webhook])
    await deliverAll(platform)
  }
  for (const inside of [
    { type: 'A', data: '127.0.0.1' },
    { type: 'AAAA', data: '::1' },
  ] as const) {
    await setZone(dns, 'rebind.example', [{ type: 'A', data: '127.0.0.2' }, inside])
    await queueEvents(platform, [webhook])
    await deliverAll(platform)
  }
  expect([friend.heard.length, canary.heard]).toEqual([1, []])

  let isOver = false
  const changing = (async () => {
    while (!isOver) {
      await lead('127.0.0.2')
      await lead('127.0.0.1')
    }
  })()
  await queueEvents(platform, [webhook], 200)
  await deliverAll(platform)
  isOver = true
  await changing
  expect(canary.heard).toEqual([])
  expect(friend.heard.length).toBeGreaterThan(1)
})

test.each([301, 302, 303, 307, 308])('a %d redirect to loopback does not reach the canary server', async (status) => {
  const { id } = await buildWorkspace(platform)
  await using canary = await startReceiver()
  await using friend = await startReceiver((response) => {
    const location = canary.url
    const others = { refresh: `0; url=${location}`, 'alt-svc': `h2="127.0.0.1:${canary.port}"` }
    response.writeHead(status, { location, 'content-location': location, ...others }).end()
  }, '127.0.0.2')
  await queueEvents(platform, [await buildWebhook(platform, id, { url: friend.url })])
  await deliverAll(platform)
  expect([friend.heard.length, canary.heard]).toEqual([1, []])
  expect(await answersIn(platform, id)).toEqual([status])
})

test('a webhook does not reach ClickHouse, NATS and Valkey on this machine', async () => {
  const { id } = await buildWorkspace(strict)
  const { CLICKHOUSE_URL = '', NATS_URL = '', VALKEY_URL = '' } = inject('environment')
  const urls = [CLICKHOUSE_URL, NATS_URL, VALKEY_URL].map((url) => `http://${new URL(url).host}/`)
  const webhooks: WebhookRow[] = []
  for (const url of urls) webhooks.push(await buildWebhook(strict, id, { url }))
  await queueEvents(strict, webhooks)
  await deliverAll(strict)
  expect(await answersIn(strict, id)).toEqual([null, null, null])
})

/** The host names of webhook URLs. */
function namesIn(addresses: string[]): Set<string> {
  const hosts = addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address).hostname)
  return new Set(hosts.map((host) => host.replace(/\.$/, '')).filter((host) => /^[\w.-]*[a-z][\w-]*$/.test(host)))
}

function lead(data: string): Promise<void> {
  return setZone(dns, 'rebind.example', [{ type: data.includes(':') ? 'AAAA' : 'A', data }])
}

async function deliverAll(platform: Platform): Promise<void> {
  const due = await takeDue(platform, openSlots({ perWebhook: 1_000, perWorkspace: 2_000, inAll: 2_000 }))
  await Promise.all(due.map((delivery) => deliver(platform, delivery)))
}

/** The response status of each delivery attempt; null without a response. */
async function answersIn(platform: Platform, workspaceId: string): Promise<(number | null)[]> {
  const result = await sql<{ response_status: number | null }>`
    SELECT response_status FROM webhook_attempts WHERE workspace_id = ${workspaceId}`.execute(platform.db)
  return result.rows.map(({ response_status }) => response_status)
}
