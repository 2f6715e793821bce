import { randomInt, randomUUID } from 'node:crypto'
import { jetstreamManager } from '@nats-io/jetstream'
import { newWebhook, type Trigger } from '@tributary/contract/webhooks'
import { type KyselyPlugin, sql } from 'kysely'
import { afterAll, describe, expect, test } from 'vitest'
import { startEngines } from '../../../../engines/start.ts'
import { buildConversionLink } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow } from '../../../test/events/feed-rows.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { ensureStreams, webhookStream } from '../../platform/nats.ts'
import type { NewClick } from '../events/service.ts'
import { createWebhook } from '../webhooks/service.ts'
import { type ClicksStored, clicksStored } from './messages.ts'
import { claim, finish, type Holder, ingest } from './service.ts'
import { partsOf } from './tell-clicks.ts'

const engines = await startEngines({ only: ['nats', 'valkey'] })
const platform = await openOwnDatabase({ ...engines.urls, EVENT_PARTITIONS: '2' })
await ensureStreams(platform.nats, platform.config)
afterAll(() => engines.stop())

const newHolder = (partition = randomInt(1_000, 2 ** 31)): Holder => ({ partition, owner: randomUUID() })

async function setUp(triggers: Trigger[]) {
  const { workspace, click } = await buildConversionLink(platform)
  const input = { name: 'all', url: 'https://example.com/hook', triggers }
  if (triggers.length > 0) await createWebhook(contextIn(platform, workspace.id), newWebhook.parse(input))
  return { workspace, click }
}

/** What is in the queue of a workspace, message by message; nothing is taken out. */
async function queued(workspaceId: string): Promise<ClicksStored[]> {
  const manager = await jetstreamManager(platform.nats)
  const { state } = await manager.streams.info(webhookStream)
  const found: ClicksStored[] = []
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(webhookStream, { seq }).catch(() => null)
    const body = message && clicksStored.parse(message.json())
    if (body?.workspaceId !== workspaceId) continue
    expect(message?.subject).toMatch(/^webhooks\.[01]\.clicks$/)
    found.push(body)
  }
  return found
}

function withMethod<T extends object>(handle: T, name: keyof T, replacement: unknown): T {
  return new Proxy(handle, {
    get(target, property) {
      const value = property === name ? replacement : Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** Notes every question for the triggers of a workspace. */
function watching(asked: number[]): KyselyPlugin {
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)
  return {
    transformQuery({ node }) {
      if (JSON.stringify(node, plain).includes('webhook_triggers')) asked.push(Date.now())
      return node
    },
    transformResult: async ({ result }) => result,
  }
}

function die(): never {
  throw new Error('dead')
}

const idsIn = (messages: ClicksStored[]) => messages.flatMap(({ clicks }) => clicks.map(({ id_text }) => id_text))

describe('clicks of a batch', () => {
  test('are told to the workspaces that want to hear of them, bots left out', async () => {
    const [one, two, deaf, none] = [
      await setUp(['link.clicked']),
      await setUp(['link.clicked', 'link.created']),
      await setUp(['lead.created']),
      await setUp([]),
    ]
    const clicks = [one.click(), two.click(), deaf.click(), none.click(), one.click({ bot: 'prefetch' }), one.click()]
    const holder = newHolder()
    await claim(platform, holder)
    await ingest(platform, holder, 0, [{ sequence: 1, body: clicks }])
    expect(idsIn(await queued(one.workspace.id))).toEqual([clicks[0]?.id, clicks[5]?.id])
    expect(idsIn(await queued(two.workspace.id))).toEqual([clicks[1]?.id])
    expect(await queued(deaf.workspace.id)).toEqual([])
    expect(await queued(none.workspace.id)).toEqual([])
    const [message] = await queued(two.workspace.id)
    expect(message?.clicks[0]).toMatchObject({
      timestamp: clicks[1]?.at,
      link_number: clicks[1]?.linkNumber,
      device: 'Desktop',
    })
  })

  test('are not told again by a worker that takes over, nor left out', async () => {
    const { workspace, click } = await setUp(['link.clicked'])
    const holder = newHolder()
    await claim(platform, holder)
    const messages = [{ sequence: 1, body: [click(), click()] }]
    // It dies between the queue and the cursor.
    const dying = { ...platform, db: withMethod(platform.db, 'transaction', die) }
    await expect(ingest(dying, holder, 0, messages)).rejects.toThrow('dead')
    expect(idsIn(await queued(workspace.id))).toHaveLength(2)

    await sql`UPDATE ingest_cursors SET leased_until = '-infinity' WHERE partition = ${holder.partition}`.execute(
      platform.db,
    )
    const next = newHolder(holder.partition)
    const cursor = await claim(platform, next)
    if (!cursor?.intent) throw new Error('The intent should be there')
    await finish(platform, next, cursor.sequence, cursor.intent, messages)
    expect(idsIn(await queued(workspace.id))).toHaveLength(2)
  })

  test('that no one could be told of stay to be told: the cursor does not go on', async () => {
    const { workspace, click } = await setUp(['link.clicked'])
    const holder = newHolder()
    await claim(platform, holder)
    const messages = [{ sequence: 1, body: [click()] }]
    const manager = await jetstreamManager(platform.nats)
    await manager.streams.delete(webhookStream)
    await expect(ingest(platform, holder, 0, messages)).rejects.toThrow()
    await ensureStreams(platform.nats, platform.config)
    const cursor = await claim(platform, holder)
    if (!cursor?.intent) throw new Error('The intent should be there')
    expect(cursor.sequence).toBe(0)
    await finish(platform, holder, 0, cursor.intent, messages)
    expect(idsIn(await queued(workspace.id))).toHaveLength(1)
  })
})

test('without webhooks nothing is told, and PostgreSQL is asked once in a while', async () => {
  const { workspace, click } = await setUp([])
  const holder = newHolder()
  await claim(platform, holder)
  const asked: number[] = []
  const watched = { ...platform, db: platform.db.withPlugin(watching(asked)) }
  let before = 0
  const started = performance.now()
  for (let sequence = 1; sequence <= 20; sequence++) {
    before = await ingest(watched, holder, before, [{ sequence, body: [click()] }])
  }
  expect(before).toBe(20)
  expect(await queued(workspace.id)).toEqual([])
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.length).toBeLessThanOrEqual(Math.ceil((performance.now() - started) / 1_000) + 1)
})

describe('a batch is divided', () => {
  const owner = (workspaceId: string) => ({ workspaceId, linkNumber: 7n })
  const rows = (workspaceId: string, count: number, given: Partial<NewClick> = {}) =>
    Array.from({ length: count }, () => clickRow(owner(workspaceId), given))

  test('by workspace, and into hundreds', () => {
    const batch = [...rows('a', 130), ...rows('b', 2), ...rows('a', 80), ...rows('c', 5)]
    const parts = partsOf(batch, new Set(['a', 'b']))
    expect(parts.map(({ name, body }) => [name, body.clicks.length])).toEqual([
      ['a-0-99', 100],
      ['a-100-201', 100],
      ['b-130-131', 2],
      ['a-202-211', 10],
    ])
    expect(new Set(idsIn(parts.map(({ body }) => body))).size).toBe(212)
  })

  test('so that no message is too large', () => {
    const url = `https://example.com/${'x'.repeat(30_000)}`
    const parts = partsOf(rows('a', 100, { url }), new Set(['a']))
    for (const { body } of parts) expect(JSON.stringify(body).length).toBeLessThan(600_000)
    expect(idsIn(parts.map(({ body }) => body))).toHaveLength(100)
  })

  test('under other names when it is divided otherwise', () => {
    const batch = [...rows('a', 3), ...rows('b', 3, { bot: '' })]
    const names = (ids: string[]) => partsOf(batch, new Set(ids)).map(({ name }) => name)
    expect(names(['a'])).toEqual(['a-0-2'])
    expect(names(['a', 'b'])).toEqual(['a-0-2', 'b-3-5'])
    expect(names([])).toEqual([])
  })
})
