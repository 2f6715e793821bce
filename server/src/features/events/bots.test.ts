import type { TrackedEvent } from '@tributary/contract/events'
import { beforeAll, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { openTestPlatform } from '../../../test/stack.ts'
import { linkNumbers } from '../links/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
let workspace: BuiltWorkspace
let person: string
let bot: string

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  const link = await buildLink(platform, workspace)
  const [linkNumber] = await linkNumbers(contextIn(platform, workspace.id), { ids: [link.id] })
  const owner = { workspaceId: workspace.id, linkNumber: linkNumber as bigint }
  const clicks = [clickRow(owner), clickRow(owner, { bot: 'agent' })]
  ;[person = '', bot = ''] = clicks.map(({ id_text }) => id_text)
  await storeEvents(platform, { clicks, leads: [leadRow(owner)] })
})

function read(path: string): Promise<Response> {
  return fetch(`${api}${path}`, { headers: { authorization: `Bearer ${workspace.key}` } })
}

test.each<[string, () => string[]]>([
  ['', () => [person]],
  ['bots=exclude', () => [person]],
  ['bots=include', () => [person, bot]],
  ['bots=only', () => [bot]],
])('GET /events?%s lists the clicks that GET /analytics counts', async (query, expected) => {
  const events = (await (await read(`/events?${query}`)).json()) as TrackedEvent[]
  expect(events.map(({ click }) => click.id).toSorted()).toEqual(expected().toSorted())
  const { clicks } = (await (await read(`/analytics?${query}`)).json()) as { clicks: number }
  expect(clicks).toBe(expected().length)
})

test('a click by a bot has no leads', async () => {
  expect(await (await read('/events?event=leads&bots=only')).json()).toEqual([])
  expect(await (await read('/events?event=leads&bots=include')).json()).toHaveLength(1)
})

test('an export names the reason for classifying a click as a bot', async () => {
  const lines = (await (await read('/events/export?bots=include&format=ndjson')).text()).trimEnd().split('\n')
  const reasons = new Map(lines.map((line) => JSON.parse(line)).map((row) => [row.clickId, row.bot]))
  expect(reasons).toEqual(new Map(Object.entries({ [person]: '', [bot]: 'agent' })))
})

test('an unknown value of `bots` is refused', async () => {
  expect((await read('/events?bots=yes')).status).toBe(422)
})
