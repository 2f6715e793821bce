import { type ClickEvent, eventsQuery } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, browser, buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import type { Ctx } from '../../platform/context.ts'
import { hashPartition } from '../../platform/ids.ts'
import { jetStream } from '../../platform/nats.ts'
import { addDomain } from '../domains/service.ts'
import { createFolder } from '../folders/service.ts'
import { clicksSubject, type RawClick } from '../redirect/messages.ts'
import { createTag } from '../tags/service.ts'
import { createToken } from '../tokens/service.ts'
import { listEvents } from './service.ts'

/** A raw click and the event that the API must return for it. */
type Sample = ReturnType<typeof buildSample>

const platform = await openTestPlatform()
const { api } = inject('server')
const count = 60
const start = Date.now()

const locations = [
  { country: 'US', region: 'US-CA', city: 'San Francisco', continent: 'NA' },
  { country: 'DE', region: 'DE-BE', city: 'Berlin', continent: 'EU' },
  { country: 'FR', region: 'FR-IDF', city: "L'Haÿ-les-Roses", continent: 'EU' },
  { country: 'IN', region: 'IN-KA', city: 'Bengaluru', continent: 'AS' },
  { country: 'Unknown', region: 'Unknown', city: 'Unknown', continent: 'Unknown' },
]
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'
const devices = [
  { userAgent: browser, device: 'Desktop', browser: 'Chrome', os: 'Linux' },
  { userAgent: iphone, device: 'Mobile', browser: 'Mobile Safari', os: 'iOS' },
  {
    userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:127.0) Gecko/20100101 Firefox/127.0',
    device: 'Desktop',
    browser: 'Firefox',
    os: 'Windows',
  },
]
const referrers = [
  { given: '', referer: '(direct)', refererUrl: '(direct)' },
  { given: 'https://www.example.org/a?b=c', referer: 'example.org', refererUrl: 'https://www.example.org/a?b=c' },
  { given: 'https://t.co/xyz', referer: 't.co', refererUrl: 'https://t.co/xyz' },
  { given: "https://o'reilly.example/\\", referer: "o'reilly.example", refererUrl: "https://o'reilly.example/" },
]
const campaigns = [
  { url: 'https://example.com/', utm: {} },
  { url: 'https://example.com/?utm_source=mail&utm_medium=email', utm: { utm_source: 'mail', utm_medium: 'email' } },
  {
    url: 'https://example.com/?utm_campaign=Spring+Sale&utm_term=shoe&utm_content=top',
    utm: { utm_campaign: 'Spring Sale', utm_term: 'shoe', utm_content: 'top' },
  },
  { url: "https://example.com/?utm_source='%20OR%201=1--", utm: { utm_source: "' OR 1=1--" } },
]
const triggers = ['link', 'qr', 'pageview'] as const

let workspace: BuiltWorkspace
let links: (Link & { number: bigint })[]
let samples: Sample[]
let tagIds: string[]
let folderId: string
let keys: string[]
let turn = 0

function pick<T>(values: readonly T[], index: number): T {
  return values[index % values.length] as T
}

function buildSample(index: number) {
  const link = pick(links, index)
  const location = pick(locations, Math.floor(index / 2))
  const device = pick(devices, Math.floor(index / 3))
  const referrer = pick(referrers, Math.floor(index / 5))
  const campaign = pick(campaigns, Math.floor(index / 7))
  const trigger = pick(triggers, Math.floor(index / 4))
  const known = location.country !== 'Unknown'
  const raw: RawClick = buildClick(platform, link, {
    ip: `198.51.100.${index}`,
    at: start - index * 1_000,
    userAgent: device.userAgent,
    referer: referrer.given,
    trigger,
    url: campaign.url,
    country: known ? location.country : '',
    region: known ? location.region : '',
    city: known ? location.city : '',
  })
  const filters: Record<string, string | undefined> = {
    trigger,
    url: campaign.url,
    ...location,
    ...device,
    ...referrer,
    ...campaign.utm,
  }
  return { raw, link, filters }
}

async function events(query: string): Promise<ClickEvent[]> {
  const key = pick(keys, turn++)
  const response = await fetch(`${api}/events?limit=1000&${query}`, { headers: { authorization: `Bearer ${key}` } })
  const body = (await response.json()) as unknown
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body as ClickEvent[]
}

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  const second = await addDomain(platform, { workspaceId: workspace.id, slug: `second.${workspace.domain}` })
  // Several API keys, because together the tests exceed the rate limit of one key.
  const tokens = await Promise.all(
    Array.from({ length: 4 }, () => createToken(platform, { workspaceId: workspace.id, name: 'test' })),
  )
  keys = tokens.map(({ key }) => key)
  const made = [
    await buildLink(platform, workspace, { key: 'Alpha', externalId: 'a' }),
    await buildLink(platform, workspace, { key: 'beta', domain: second.slug, externalId: "b'" }),
    await buildLink(platform, workspace, { key: 'root', domain: second.slug }),
  ]
  const ctx = contextIn(platform, workspace.id)
  tagIds = [(await createTag(ctx, { name: 'first' })).id, (await createTag(ctx, { name: 'second' })).id]
  folderId = (await createFolder(ctx, { name: 'mine', accessLevel: 'write' })).id
  links = await Promise.all(made.map(async (link) => ({ ...link, number: await findNumber(link.id) })))
  await sql`INSERT INTO folders (id, workspace_id, name) VALUES ('fold_1', ${workspace.id}, 'one')`.execute(platform.db)
  await sql`INSERT INTO tags (id, workspace_id, name, color)
    VALUES ('tag_1', ${workspace.id}, 'one', 'red'), ('tag_2', ${workspace.id}, 'two', 'red')`.execute(platform.db)
  for (const [index, link] of links.entries()) await publishAttributes(link, index)
  samples = Array.from({ length: count }, (_, index) => buildSample(index))
  const body = JSON.stringify(samples.map(({ raw }) => raw))
  await jetStream(platform.nats).publish(subject(), body)
  await eventually(async () => {
    expect(await events('interval=24h')).toHaveLength(count)
    expect(await events('tenantId=tenant-2')).toHaveLength(count / 3)
  }, 10_000)
})

const subject = () => clicksSubject(hashPartition(workspace.id, platform.config.EVENT_PARTITIONS))

async function findNumber(id: string): Promise<bigint> {
  const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
  return result.rows[0]?.number ?? 0n
}

/** Publishes link attributes (tags, folder, tenant, partner), as the operations that change them do. */
async function publishAttributes(link: Link & { number: bigint }, index: number): Promise<void> {
  const change = {
    workspaceId: workspace.id,
    linkNumber: String(link.number),
    domain: link.domain,
    lookupKey: link.key.toLowerCase(),
    isRoot: index === 2,
    folderId: index === 0 ? folderId : '',
    tenantId: `tenant-${index}`,
    partnerId: index === 1 ? 'pn_1' : '',
    tagIds: [tagIds, tagIds.slice(1), []][index],
    deleted: false,
    version: Date.now() + 1_000,
  }
  await jetStream(platform.nats).publish('changes.0.links', JSON.stringify(change))
}

type Case = [string, (sample: Sample) => boolean]

const is =
  (name: string, ...values: string[]) =>
  (sample: Sample) =>
    values.includes(String(sample.filters[name] ?? ''))
const isNot =
  (name: string, ...values: string[]) =>
  (sample: Sample) =>
    !values.includes(String(sample.filters[name] ?? ''))

async function expectMatches(query: string, matches: (sample: Sample) => boolean): Promise<void> {
  const expected = samples.filter(matches).map(({ raw }) => raw.id)
  expect((await events(query)).map((event) => event.click.id)).toEqual(expected)
}

describe('a filter on the click', () => {
  test.each<Case>([
    ['country=US', is('country', 'US')],
    ['country=US,DE', is('country', 'US', 'DE')],
    ['country=-US', isNot('country', 'US')],
    ['country=-US,DE', isNot('country', 'US', 'DE')],
    ['country=Unknown', is('country', 'Unknown')],
    ['country=BR', () => false],
    ['city=San%20Francisco', is('city', 'San Francisco')],
    [`city=${encodeURIComponent("L'Haÿ-les-Roses")},Berlin`, is('city', "L'Haÿ-les-Roses", 'Berlin')],
    ['region=US-CA,IN-KA', is('region', 'US-CA', 'IN-KA')],
    ['region=-FR-IDF', isNot('region', 'FR-IDF')],
    ['continent=EU', is('continent', 'EU')],
    ['continent=-EU,AS', isNot('continent', 'EU', 'AS')],
    ['device=Mobile', is('device', 'Mobile')],
    ['device=-Mobile', isNot('device', 'Mobile')],
    ['browser=Firefox,Chrome', is('browser', 'Firefox', 'Chrome')],
    ['browser=Mobile+Safari', is('browser', 'Mobile Safari')],
    ['os=iOS', is('os', 'iOS')],
    ['os=-iOS,Windows', isNot('os', 'iOS', 'Windows')],
    ['trigger=qr', is('trigger', 'qr')],
    ['trigger=-link', isNot('trigger', 'link')],
    ['trigger=link,pageview', is('trigger', 'link', 'pageview')],
    ['qr=true', is('trigger', 'qr')],
    ['qr=false', is('trigger', 'link')],
    ['referer=t.co', is('referer', 't.co')],
    ['referer=(direct)', is('referer', '(direct)')],
    ['referer=-(direct),t.co', isNot('referer', '(direct)', 't.co')],
    [`referer=${encodeURIComponent("o'reilly.example")}`, is('referer', "o'reilly.example")],
    [
      `refererUrl=${encodeURIComponent('https://www.example.org/a?b=c')}`,
      is('refererUrl', 'https://www.example.org/a?b=c'),
    ],
    ['refererUrl=-https://t.co/xyz', isNot('refererUrl', 'https://t.co/xyz')],
    ['url=https://example.com/', is('url', 'https://example.com/')],
    ['url=-https://example.com/', isNot('url', 'https://example.com/')],
    ['utm_source=mail', is('utm_source', 'mail')],
    [`utm_source=${encodeURIComponent("' OR 1=1--")}`, is('utm_source', "' OR 1=1--")],
    ['utm_source=-mail', isNot('utm_source', 'mail')],
    ['utm_medium=email', is('utm_medium', 'email')],
    ['utm_campaign=Spring+Sale', is('utm_campaign', 'Spring Sale')],
    ['utm_term=shoe,sock', is('utm_term', 'shoe', 'sock')],
    ['utm_content=-top', isNot('utm_content', 'top')],
    ['country=US&device=Mobile', ({ filters }) => filters.country === 'US' && filters.device === 'Mobile'],
    ['country=', () => true],
    ['country=,', () => true],
    [`country=${encodeURIComponent("'; DROP TABLE click_events; --")}`, () => false],
    [`city=${encodeURIComponent('\\\t\n{x:String}')}`, () => false],
  ])('the click filter %s', async (query, matches) => {
    await expectMatches(query, matches)
  })
})

describe('a filter on the link', () => {
  const ofLink =
    (...indexes: number[]) =>
    (sample: Sample) =>
      indexes.some((index) => sample.link.id === links[index]?.id)

  test.each<[string, () => string, number[]]>([
    ['domain', () => `domain=${workspace.domain}`, [0]],
    ['domain in capitals', () => `domain=SECOND.${workspace.domain.toUpperCase()}`, [1, 2]],
    ['a domain to exclude', () => `domain=-${workspace.domain}`, [1, 2]],
    ['two domains', () => `domain=${workspace.domain},second.${workspace.domain}`, [0, 1, 2]],
    ['domain and key', () => `domain=${workspace.domain}&key=alpha`, [0]],
    ['domain and key in capitals', () => `domain=${workspace.domain.toUpperCase()}&key=ALPHA`, [0]],
    ['id', () => `linkId=${links[1]?.id}`, [1]],
    ['several ids', () => `linkId=${links[0]?.id},${links[2]?.id}`, [0, 2]],
    ['ids to exclude', () => `linkId=-${links[0]?.id},${links[2]?.id}`, [1]],
    ['an unknown id', () => 'linkId=link_unknown', []],
    ['an unknown id to exclude', () => 'linkId=-link_unknown', [0, 1, 2]],
    ['an empty list of ids', () => 'linkId=,', [0, 1, 2]],
    ['external id', () => 'externalId=ext_a', [0]],
    ['external id with a quote', () => `externalId=${encodeURIComponent("ext_b'")}`, [1]],
    ['external id and another link', () => `externalId=ext_a&linkId=${links[1]?.id}`, []],
    ['tenant', () => 'tenantId=tenant-0,tenant-1', [0, 1]],
    ['a tenant to exclude', () => 'tenantId=-tenant-0', [1, 2]],
    ['folder', () => `folderId=${folderId}`, [0]],
    ['a folder to exclude', () => `folderId=-${folderId}`, [1, 2]],
    ['partner', () => 'partnerId=pn_1', [1]],
    ['tag', () => `tagId=${tagIds[0]}`, [0]],
    ['one of these tags', () => `tagId=${tagIds.join()}`, [0, 1]],
    ['tags to exclude', () => `tagId=-${tagIds[0]}`, [1, 2]],
    ['tags in the deprecated parameter', () => `tagIds=${tagIds[1]}`, [0, 1]],
    ['bare domains', () => 'root=true', [2]],
    ['links', () => 'root=false', [0, 1]],
    ['group, which no link has', () => 'groupId=grp_1', []],
    ['a group to exclude', () => 'groupId=-grp_1', [0, 1, 2]],
    ['tag of a partner, which none has', () => 'partnerTagId=ptag_1', []],
    ['customer, who has no click', () => 'customerId=cus_1', []],
    [
      'filters only for leads and sales',
      () => `saleType=new&query=${encodeURIComponent("metadata['a']:'b'")}`,
      [0, 1, 2],
    ],
  ])('a filter by %s', async (_name, query, expected) => {
    await expectMatches(query(), ofLink(...expected))
  })
})

describe('the error for an invalid filter names the parameter', () => {
  test.each([
    ['key=alpha', '`key` in the query must be used together with `domain`.'],
    ['key=alpha&domain=-a.example', '`domain` in the query must be one domain'],
    ['key=alpha&domain=a.example,b.example', '`domain` in the query must be one domain'],
    ['externalId=a', '`externalId` in the query must start with `ext_`.'],
    ['timezone=Mars/Phobos', '`timezone` in the query: "Mars/Phobos" is unknown.'],
    ['start=2025-02-30', '`start` in the query: "2025-02-30" can\'t be read'],
    ['end=soonish', '`end` in the query: "soonish" can\'t be read'],
    ['limit=1001', '`limit` in the query must be at most 1000, not 1001.'],
    [`query=${'a'.repeat(10_001)}`, '`query` in the query must be at most 10000 characters long, not 10001.'],
    ['query=plan:pro', '`query` in the query has a syntax error at character 1 ("plan:pro")'],
    [`country=${'a,'.repeat(1_001)}`, '`country` in the query must have at most 1000 values, not 1001.'],
  ])('%s', async (query, message) => {
    const headers = { authorization: `Bearer ${pick(keys, turn++)}` }
    const response = await fetch(`${api}/events?${query}`, { headers })
    const body = (await response.json()) as { error: { message: string } }
    expect(response.status).toBe(422)
    expect(body.error.message).toContain(message)
  })
})

describe('a history of 30 days on the pro plan', () => {
  const config = { ...platform.config, HISTORY_DAYS_BY_PLAN: { pro: 30 } }
  const listed = async (plan: Ctx['plan'], asked: object, daysLater: number) => {
    const now = () => new Date(start + daysLater * 86_400_000)
    const ctx: Ctx = { ...contextIn(platform, workspace.id), config, plan, now }
    return listEvents(ctx, eventsQuery.parse({ limit: 1_000, ...asked }))
  }

  test('interval=all is limited to the history', async () => {
    expect((await listed('pro', { interval: 'all' }, 29)).events).toHaveLength(count)
    expect((await listed('pro', { interval: 'all' }, 31)).events).toEqual([])
    expect((await listed('business', { interval: 'all' }, 31)).events).toHaveLength(count)
  })

  test.each([
    ['interval', { interval: '90d' }],
    ['start', { start: '2 months ago' }],
  ])('a longer %s is refused, and the error names the earliest start', async (parameter, asked) => {
    await expect(listed('pro', asked, 31)).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(
        `^\`${parameter}\` in the query begins at .*, but the pro plan has 30 days of history. Begin at .* or later.$`,
      ),
    })
    expect((await listed('business', asked, 31)).events).toHaveLength(count)
    expect((await listed('pro', { interval: '30d' }, 29)).events).toHaveLength(count)
  })

  test('a cursor from before the limit is limited to the history, too', async () => {
    const { next } = await listed('business', { interval: 'all', limit: 1 }, 31)
    expect((await listed('business', { interval: 'all', cursor: next }, 31)).events).toHaveLength(count - 1)
    expect((await listed('pro', { interval: 'all', cursor: next }, 31)).events).toEqual([])
  })
})

test('by default every plan keeps its whole history', () => {
  expect(platform.config.HISTORY_DAYS_BY_PLAN).toEqual({})
})
