import type { Link } from '@tributary/contract/links'
import { Dub } from 'dub'
import { ClickEvent$inboundSchema } from 'dub/models/operations'
import { expect, inject, test } from 'vitest'
import { browser, buildWorkspace } from '../server/test/build.ts'
import { eventually, openTestPlatform } from '../server/test/stack.ts'
import { visit } from '../server/test/visit.ts'
import { clickEventKeys, clickKeys, linkDates, linkKeys } from './specification.ts'

const platform = await openTestPlatform()
const { api, redirect } = inject('server')

const visitor = {
  'user-agent': browser,
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-language': 'en-GB,en;q=0.9',
  referer: 'https://www.example.org/reading/list',
}

type Event = { [name: string]: unknown; click: object; link: Record<string, unknown>; click_id: string }

async function listEvents(key: string): Promise<Event[]> {
  const response = await fetch(`${api}/events?event=clicks`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  return (await response.json()) as Event[]
}

test('a link made over HTTP and opened by a browser is one click event, exactly as specified, within 2 s', async () => {
  // A plan whose limit for analytics is not reached by asking every few milliseconds.
  const workspace = await buildWorkspace(platform, { plan: 'enterprise' })
  const created = await fetch(`${api}/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://shop.example/spring?utm_source=mail', externalId: 'campaign-7' }),
  })
  expect(created.status).toBe(200)
  const link = (await created.json()) as Link
  expect(Object.keys(link).sort()).toEqual(linkKeys.filter((key) => key !== 'testVariants'))
  expect(link.key).toMatch(/^[A-Za-z0-9]{7}$/)

  const opened = await visit(`${redirect}/${link.key}`, { ...visitor, host: workspace.domain })
  const openedAt = Date.now()
  expect(opened.status).toBe(302)
  expect(opened.headers.location).toBe('https://shop.example/spring?utm_source=mail')

  const event = await eventually(async () => {
    const events = await listEvents(workspace.key)
    expect(events).toHaveLength(1)
    // The click counter is updated in the same batch as the row.
    expect(events[0]?.link.clicks).toBe(1)
    return events[0] as Event
  }, 2_000)
  expect(Date.now() - openedAt).toBeLessThan(2_000)

  expect(Object.keys(event).sort()).toEqual(clickEventKeys)
  expect(Object.keys(event.click).sort()).toEqual(clickKeys)
  expect(Object.keys(event.link).sort()).toEqual(linkKeys.filter((key) => key !== 'testVariants'))
  for (const date of linkDates) expect(event.link[date], date).toBeTypeOf('string')
  expect([event.link.expiresAt, event.link.disabledAt, event.link.testStartedAt, event.link.testCompletedAt]).toEqual([
    '',
    '',
    '',
    '',
  ])
  expect(event).toMatchObject({
    event: 'click',
    qr: 0,
    device: 'Desktop',
    browser: 'Chrome',
    os: 'Linux',
    link_id: link.id,
  })
  expect(event.click).toMatchObject({
    id: event.click_id,
    url: 'https://shop.example/spring?utm_source=mail',
    trigger: 'link',
    qr: false,
    referer: 'example.org',
    refererUrl: 'https://www.example.org/reading/list',
  })
  expect(event.link).toMatchObject({ clicks: 1, lastClicked: event.timestamp, externalId: 'campaign-7' })

  expect(ClickEvent$inboundSchema.safeParse(event).success).toBe(true)
  const decoded = await new Dub({ token: workspace.key, serverURL: api }).events.list()
  expect(decoded).toHaveLength(1)
  expect(decoded[0]).toMatchObject({ event: 'click', clickId: event.click_id, link: { id: link.id, clicks: 1 } })
})

test('a client of the public SDK creates and lists links and pages through events', async () => {
  const workspace = await buildWorkspace(platform)
  const client = new Dub({ token: workspace.key, serverURL: api })
  const link = await client.links.create({ url: 'https://shop.example/sdk', key: 'sdk' })
  expect(link).toMatchObject({ key: 'sdk', domain: workspace.domain, shortLink: `https://${workspace.domain}/sdk` })
  await expect(client.links.create({ url: 'https://shop.example/sdk', key: 'SDK' })).rejects.toMatchObject({
    name: 'Conflict',
    statusCode: 409,
  })
  const listed: string[] = []
  for await (const page of await client.links.list({ pageSize: 1 })) listed.push(...page.result.map((item) => item.id))
  expect(listed).toEqual([link.id])
  for (const visitorNumber of [1, 2, 3]) {
    const headers = { ...visitor, 'user-agent': `${browser} ${visitorNumber}`, host: workspace.domain }
    await visit(`${redirect}/sdk`, headers)
  }
  const pages = await eventually(async () => {
    const pages = []
    for (const page of [1, 2, 3, 4]) pages.push(await client.events.list({ page, limit: 1, linkId: link.id }))
    expect(pages.flat()).toHaveLength(3)
    return pages
  })
  expect(pages.map((page) => page.length)).toEqual([1, 1, 1, 0])
  expect(await client.events.list({ event: 'leads' })).toEqual([])
})
