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
import { openLines } from './delivery/lines.ts'
import type { WebhookRow } from './store.ts'

// A friend stands for the internet: 127.0.0.2 may be called, 127.0.0.1 and all else on this machine may not.
const everyPort = { OUTBOUND_ALLOWED_PORTS: '1-65535' }
const onlyFriend = { ...everyPort, OUTBOUND_ALLOWED_HOSTS: '127.0.0.2' }
const dns = await startDnsServer()
afterAll(() => dns[Symbol.asyncDispose]())
const strict = await openOwnDatabase({ ...everyPort, DNS_SERVERS: dns.address })
const platform = {
  ...strict,
  config: readConfig({ ...inject('environment'), ...onlyFriend, DNS_SERVERS: dns.address }),
}

test('a canary on loopback is not reached by any spelling of its address', async () => {
  await using canary = await startReceiver()
  await using sixth = await startReceiver(undefined, '::1').catch(() => startReceiver())
  const { id } = await buildWorkspace(strict)
  const addresses = [canary.port, sixth.port].flatMap((port) =>
    spellings.map(([spelling]) => spelling.replaceAll('{p}', String(port))),
  )
  for (const name of namesIn(addresses)) await setZone(dns, name, [{ type: 'A', data: '127.0.0.1' }])
  const webhooks = await Promise.all([...new Set(addresses)].map((url) => buildWebhook(strict, id, { url })))
  await queueEvents(strict, webhooks)
  expect(await deliverAll(strict)).toBe(webhooks.length)
  expect([canary.heard, sixth.heard]).toEqual([[], []])
  expect(await answersIn(strict, id)).toEqual([])
})

test('a name that changes its address between the calls, and during them, does not lead there', async () => {
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
  await setZone(dns, 'rebind.example', [
    { type: 'A', data: '127.0.0.2' },
    { type: 'A', data: '127.0.0.1' },
  ])
  await queueEvents(platform, [webhook])
  await deliverAll(platform)
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

test.each([301, 302, 303, 307, 308])('a redirect with %d does not lead there', async (status) => {
  const { id } = await buildWorkspace(platform)
  await using canary = await startReceiver()
  await using friend = await startReceiver((response) => {
    const location = canary.url
    response.writeHead(status, { location, refresh: `0; url=${location}`, 'content-location': location }).end()
  }, '127.0.0.2')
  await queueEvents(platform, [await buildWebhook(platform, id, { url: friend.url })])
  await deliverAll(platform)
  expect([friend.heard.length, canary.heard]).toEqual([1, []])
  expect(await answersIn(platform, id)).toEqual([status])
})

test('the servers of this machine are not reached: its engines', async () => {
  const { id } = await buildWorkspace(strict)
  const { CLICKHOUSE_URL = '', NATS_URL = '', VALKEY_URL = '' } = inject('environment')
  const urls = [CLICKHOUSE_URL, NATS_URL, VALKEY_URL].map((url) => `http://${new URL(url).host}/`)
  const webhooks: WebhookRow[] = []
  for (const url of urls) webhooks.push(await buildWebhook(strict, id, { url }))
  await queueEvents(strict, webhooks)
  expect(await deliverAll(strict)).toBe(urls.length)
  expect(await answersIn(strict, id)).toEqual([])
})

/** Whatever the name, it leads home. */
function namesIn(addresses: string[]): Set<string> {
  const hosts = addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address).hostname)
  return new Set(hosts.map((host) => host.replace(/\.$/, '')).filter((host) => /^[\w.-]*[a-z][\w-]*$/.test(host)))
}

function lead(data: string): Promise<void> {
  return setZone(dns, 'rebind.example', [{ type: data.includes(':') ? 'AAAA' : 'A', data }])
}

async function deliverAll(platform: Platform): Promise<number> {
  const due = await takeDue(platform, openLines(1_000, 2_000))
  await Promise.all(due.map((delivery) => deliver(platform, delivery)))
  return due.length
}

async function answersIn(platform: Platform, workspaceId: string): Promise<number[]> {
  const result = await sql<{ response_status: number }>`
    SELECT response_status FROM webhook_attempts
    WHERE workspace_id = ${workspaceId} AND response_status IS NOT NULL`.execute(platform.db)
  return result.rows.map(({ response_status }) => response_status)
}
