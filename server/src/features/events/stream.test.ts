import { listEvents as listOperation } from '@tributary/contract/events'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { insert } from '../../platform/clickhouse.ts'
import { linkNumbers } from '../links/service.ts'
import { revoke } from '../tokens/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
let workspace: BuiltWorkspace
let owner: { workspaceId: string; linkNumber: bigint }

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  owner = await ownerIn(workspace)
})

async function ownerIn({ id, ...rest }: BuiltWorkspace) {
  const link = await buildLink(platform, { id, ...rest })
  const [linkNumber] = await linkNumbers(contextIn(platform, id), { ids: [link.id] })
  return { workspaceId: id, linkNumber: linkNumber as bigint }
}

type Message = { id: string; event: string; data: Record<string, unknown> }

/** Opens an event stream and collects its events; `end` resolves with the reason why the stream ended. */
async function follow(query = '', given: { lastId?: string; key?: string; api?: string } = {}) {
  const stopping = new AbortController()
  const response = await fetch(`${given.api ?? api}/events/stream?${query}`, {
    headers: {
      authorization: `Bearer ${given.key ?? workspace.key}`,
      ...(given.lastId && { 'last-event-id': given.lastId }),
    },
    signal: stopping.signal,
  })
  expect(response.status, response.ok ? '' : await response.clone().text()).toBe(200)
  const messages: Message[] = []
  const got = { messages, lastId: '', text: '', response }
  const reading = (async () => {
    let open = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      got.text += chunk
      const parts = (open + chunk).split('\n\n')
      open = parts.pop() ?? ''
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? ''
        got.lastId = field('id') || got.lastId
        if (field('data')) messages.push({ id: field('id'), event: field('event'), data: JSON.parse(field('data')) })
      }
    }
    return 'ended'
  })().catch((error: Error) => error.name)
  await eventually(async () => expect(got.lastId).not.toBe(''))
  return Object.assign(got, {
    end: reading,
    ids: () => messages.map(({ data }) => (data.eventId ?? data.click_id) as string),
    async stop() {
      stopping.abort()
      await reading
    },
  })
}

describe('a stream sends events as they are stored', () => {
  test('a stream sends matching clicks, leads and sales in the same form as the list', async () => {
    const clicks = await follow('country=FR')
    const leads = await follow('event=leads')
    const sales = await follow('event=sales&saleType=new')
    expect(clicks.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const click = clickRow(owner, { country: 'FR' })
    const [lead, sale, refund] = [leadRow(owner), saleRow(owner), saleRow(owner, { kind: 'refund', amount: '-5' })]
    await storeEvents(platform, {
      clicks: [click, clickRow(owner, { country: 'DE' })],
      leads: [lead],
      sales: [sale, refund, saleRow(owner, { sale_type: 'recurring' })],
    })
    await eventually(async () => {
      expect(clicks.ids()).toEqual([click.id_text])
      expect(leads.ids()).toEqual([lead.id])
      expect(sales.ids().toSorted()).toEqual([sale.id, refund.id].toSorted())
    })
    const shown = [...clicks.messages, ...leads.messages, ...sales.messages]
    expect(shown.map(({ event }) => event)).toEqual(['click', 'lead', 'sale', 'sale'])
    expect(() => listOperation.response.parse(shown.map(({ data }) => data))).not.toThrow()
    await Promise.all([clicks.stop(), leads.stop(), sales.stop()])
  })

  test('a stream skips earlier events, but sends events with an old timestamp or a late insert', async () => {
    const own = await buildWorkspace(platform)
    const there = await ownerIn(own)
    await storeEvents(platform, { clicks: [clickRow(there)] })
    const stream = await follow('', { key: own.key })
    const first = clickRow(there)
    await storeEvents(platform, { clicks: [first] })
    await eventually(async () => expect(stream.ids()).toEqual([first.id_text]))
    const old = clickRow(there, { timestamp: Date.now() - 40 * 86_400_000 })
    await storeEvents(platform, { clicks: [old] })
    await eventually(async () => expect(stream.ids()).toEqual([first.id_text, old.id_text]))
    // An insert with an earlier insert time that becomes visible later than the others.
    const slow = clickRow(there)
    await insert(platform.clickhouse, 'click_events', [slow], undefined, { stored_at: Date.now() - 30_000 })
    await eventually(async () => expect(stream.ids()).toEqual([first.id_text, old.id_text, slow.id_text]))
    await stream.stop()
    // The first stream sent all events, so the second one repeats none.
    const again = await follow('', { key: own.key, lastId: stream.lastId })
    const last = clickRow(there)
    await storeEvents(platform, { clicks: [last] })
    await eventually(async () => expect(again.ids()).toEqual([last.id_text]))
    await again.stop()
  })

  test('a stream resumes after any received event, without a gap', async () => {
    const own = await buildWorkspace(platform)
    const there = await ownerIn(own)
    const stream = await follow('', { key: own.key })
    const begin = stream.lastId
    const rows = Array.from({ length: 450 }, () => clickRow(there))
    await storeEvents(platform, { clicks: rows.slice(0, 250) })
    await storeEvents(platform, { clicks: rows.slice(250) })
    await eventually(async () => expect(stream.ids()).toHaveLength(450))
    await stream.stop()
    const ids = stream.ids()
    expect([...ids].sort()).toEqual(rows.map(({ id_text }) => id_text).sort())
    for (const [lastId, from] of [
      [begin, 0],
      [stream.messages[0]?.id, 1],
      [stream.messages[199]?.id, 200],
      [stream.messages[273]?.id, 274],
      [stream.messages[449]?.id, 450],
    ] as const) {
      const next = clickRow(there)
      const resumed = await follow('', { key: own.key, lastId: lastId ?? '' })
      await eventually(async () => expect(resumed.ids()).toHaveLength(ids.length - from))
      await storeEvents(platform, { clicks: [next] })
      await eventually(async () => expect(resumed.ids()).toEqual([...ids.slice(from), next.id_text]))
      ids.push(next.id_text)
      await resumed.stop()
    }
  })

  test('a stream repeats the last minute when a late event was stored between two connections', async () => {
    const own = await buildWorkspace(platform)
    const there = await ownerIn(own)
    const stream = await follow('', { key: own.key })
    const [shown, slow] = [clickRow(there), clickRow(there)]
    await storeEvents(platform, { clicks: [shown] })
    await eventually(async () => expect(stream.ids()).toHaveLength(1))
    await stream.stop()
    await insert(platform.clickhouse, 'click_events', [slow], undefined, { stored_at: Date.now() - 20_000 })
    const again = await follow('', { key: own.key, lastId: stream.lastId })
    await eventually(async () => expect([...again.ids()].sort()).toEqual([shown.id_text, slow.id_text].sort()))
    await again.stop()
  })

  test('a stream has no events of another workspace', async () => {
    const other = await buildWorkspace(platform)
    const stream = await follow('', { key: other.key })
    await storeEvents(platform, { clicks: [clickRow(owner)] })
    const mine = clickRow(await ownerIn(other))
    await storeEvents(platform, { clicks: [mine] })
    await eventually(async () => expect(stream.ids()).toEqual([mine.id_text]))
    await stream.stop()
  })
})

describe('invalid stream requests get an error object', () => {
  const ask = async (query: string, headers: Record<string, string>) => {
    const response = await fetch(`${api}/events/stream?${query}`, { headers })
    const body = response.status === 200 ? undefined : ((await response.json()) as { error: { message: string } })
    if (response.status === 200) await response.body?.cancel()
    return `${response.status} ${body?.error.message ?? ''}`
  }

  test('a wrong plan, filter or Last-Event-ID is refused', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'pro' })
    expect(await ask('', { authorization: `Bearer ${key}` })).toMatch(/^403 .* needs the business plan/)
    const headers = { authorization: `Bearer ${workspace.key}` }
    expect(await ask('event=views', headers)).toMatch(/^422 `event` in the query must be one of/)
    expect(await ask('externalId=ext_none', headers)).toMatch(/^404 /)
    expect(await ask('', { ...headers, 'last-event-id': 'x' })).toMatch(/^422 `Last-Event-ID` does not come from/)
    const stream = await follow('event=leads')
    await stream.stop()
    const lastId = { 'last-event-id': stream.lastId }
    expect(await ask('', { ...headers, ...lastId })).toBe(
      '422 `Last-Event-ID` belongs to `event=leads`. Send this parameter.',
    )
    expect(await ask(`event=leads&cursor=${stream.lastId}`, headers)).toBe('200 ')
  })

  test('a sixth stream of one key is refused until one of the five ends', async () => {
    const { key } = await buildWorkspace(platform)
    const open = await Promise.all(Array.from({ length: 5 }, () => follow('', { key })))
    const headers = { authorization: `Bearer ${key}` }
    expect(await ask('', headers)).toMatch(
      /^429 This key has 5 open streams of \/events\/stream, the maximum\. Close one/,
    )
    await open[0]?.stop()
    await eventually(async () => expect(await ask('', headers)).toBe('200 '))
    await Promise.all(open.map((stream) => stream.stop()))
  })
})

test('a server stop ends its streams, and another server resumes them', async () => {
  const server = await startServer({ ...inject('environment'), ROLES: 'api' })
  const stream = await follow('', { api: server.api })
  const click = clickRow(owner)
  await storeEvents(platform, { clicks: [click] })
  await eventually(async () => expect(stream.ids()).toContain(click.id_text))
  const stopped = performance.now()
  expect(await server.stop()).toBe(0)
  expect(await stream.end).toBe('ended')
  expect(performance.now() - stopped).toBeLessThan(platform.config.SHUTDOWN_GRACE_MS)
  const missed = clickRow(owner)
  await storeEvents(platform, { clicks: [missed] })
  const resumed = await follow('', { lastId: stream.lastId })
  await eventually(async () => expect(resumed.ids()).toContain(missed.id_text))
  expect(resumed.ids()).not.toContain(click.id_text)
  await resumed.stop()
})

describe('a stream ends with its key', () => {
  test.each<[string, (workspace: BuiltWorkspace) => Promise<unknown>]>([
    ['that was revoked', ({ keyId }) => revoke(platform, keyId)],
    ['whose workspace got a plan without streams', ({ id }) => changePlan(id, 'free')],
    [
      'that lost a scope',
      ({ keyId }) => sql`UPDATE tokens SET scopes = '{analytics.read}' WHERE id = ${keyId}`.execute(platform.db),
    ],
    ['whose workspace was deleted', ({ id }) => sql`DELETE FROM workspaces WHERE id = ${id}`.execute(platform.db)],
  ])('a stream of a key %s ends within five seconds', async (_name, end) => {
    const own = await buildWorkspace(platform)
    const stream = await follow('', { key: own.key })
    await end(own)
    const ended = await Promise.race([stream.end, new Promise((resolve) => setTimeout(resolve, 5_500, 'open'))])
    await stream.stop()
    expect(ended).not.toBe('open')
  })

  test('a stream of an expired key ends within five seconds', async () => {
    const own = await buildWorkspace(platform, { expiresAt: new Date(Date.now() + 1_500) })
    const stream = await follow('', { key: own.key })
    const ended = await Promise.race([stream.end, new Promise((resolve) => setTimeout(resolve, 7_000, 'open'))])
    await stream.stop()
    expect(ended).not.toBe('open')
  })
})

async function changePlan(workspaceId: string, plan: string): Promise<void> {
  await sql`UPDATE workspaces SET plan = ${plan} WHERE id = ${workspaceId}`.execute(platform.db)
}
