import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildUnpublishedLink } from '../../../test/redirect/unpublished-link.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { openRedirectCache } from './cache.ts'

const engines = await startEngines({ only: ['nats'] })
const platform = await openTestPlatform()
const deaf = await openTestPlatform(engines.urls)
const cache = openRedirectCache(deaf)

afterAll(async () => {
  await cache[Symbol.asyncDispose]()
  await engines.stop()
})

async function someLink() {
  const { domain, id } = (await buildUnpublishedLink(platform, { key: 'go' })).link
  const find = async () => (await cache.find(domain, 'go')).link?.url
  expect(await find()).toBe('https://example.com/landing')
  await eventually(async () => expect(await platform.valkey.exists(`redirect:link:${domain}/go`)).toBe(1))
  return { find, point: (url: string) => sql`UPDATE links SET url = ${url} WHERE id = ${id}`.execute(platform.db) }
}

const statuses = deaf.nats.status()[Symbol.asyncIterator]()

async function next(type: string): Promise<void> {
  for (;;) if ((await statuses.next()).value?.type === type) return
}

test('a link change that was published while NATS was down applies as soon as NATS is back', async () => {
  const { find, point } = await someLink()
  await point('https://example.com/new')
  expect(await find()).toBe('https://example.com/landing')
  const back = next('reconnect')
  await engines.processes.nats?.restart()
  await back
  await eventually(async () => expect(await find()).toBe('https://example.com/new'), 200)
})

test('while NATS is down, a link change applies within about a second without a message', async () => {
  const { find, point } = await someLink()
  const disconnected = next('disconnect')
  await engines.processes.nats?.stop()
  await disconnected
  await point('https://example.com/new')
  await eventually(async () => expect(await find()).toBe('https://example.com/new'), 1_500)
  const back = next('reconnect')
  await engines.processes.nats?.restart()
  await back
})
