import fc from 'fast-check'
import { addDays, clockIn, firstSame, midnightIn } from './local-time.ts'
import type { Choice, Comparison, Kind, MetadataTest, ModelEvent, ModelQuery } from './model.ts'
import type { BuiltWorld } from './world.ts'

/** A query as data, and the same as URL parameters. */
export type Asked = { model: ModelQuery; query: Record<string, string> }

const factNames = [
  'country',
  'city',
  'region',
  'continent',
  'device',
  'browser',
  'os',
  'trigger',
  'referer',
  'refererUrl',
  'url',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
] as const
const linkNames = ['domain', 'linkId', 'tenantId', 'tagId', 'folderId', 'partnerId', 'tagIds'] as const
const otherNames = [
  'partnerTagId',
  'groupId',
  'key',
  'externalId',
  'customerId',
  'root',
  'saleType',
  'query',
  'programId',
  'qr',
] as const
const filterNames = [...factNames, ...linkNames, ...otherNames]
type FilterName = (typeof filterNames)[number]
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Chatham',
  'Australia/Lord_Howe',
  'America/Los_Angeles',
]
const intervals = ['24h', '7d', '30d', '90d', '1y', 'mtd', 'qtd', 'ytd', 'all']
const hourMs = 3_600_000

/** Generates random queries with values of existing events, so that many queries match some. */
export function arbitraryQueries(world: BuiltWorld, kinds: Kind[] = ['clicks', 'leads', 'sales']): fc.Arbitrary<Asked> {
  const pools = buildPools(world)
  return fc
    .record({
      kind: fc.constantFrom(...kinds),
      namesKind: fc.boolean(),
      target: fc.nat(1_000_000),
      filters: fc.uniqueArray(filterDraft(world), { maxLength: 5, selector: ({ name }) => name }),
      period: periodDraft,
    })
    .map(({ kind, namesKind, target, filters, period }) => {
      const events = world[kind]
      const event = events[target % events.length] as ModelEvent
      const asked: Asked = { model: { kind, from: 0, to: 0, choices: {} }, query: {} }
      if (namesKind || kind !== 'clicks') asked.query.event = kind
      askPeriod(asked, period, world.now)
      for (const draft of filters) askFilter(asked, draft, event, pools, world)
      return asked
    })
}

type FilterDraft = {
  name: FilterName
  picks: number[]
  excluded: boolean
  isOfTarget: boolean
  blanks: boolean
  flag: boolean
  text: string
  test: MetadataTest
}

function filterDraft(world: BuiltWorld): fc.Arbitrary<FilterDraft> {
  return fc.record({
    name: fc.constantFrom(...filterNames),
    picks: fc.array(fc.nat(1_000_000), { minLength: 1, maxLength: 3 }),
    excluded: fc.boolean(),
    isOfTarget: fc.boolean(),
    blanks: fc.boolean(),
    flag: fc.boolean(),
    text: fc.string({ unit: 'binary', maxLength: 6 }).map((text) => `x${text.replaceAll('\0', '').toWellFormed()}x`),
    test: metadataTest(world),
  })
}

function buildPools(world: BuiltWorld): Record<string, string[]> {
  const distinct = (values: string[]) => [...new Set(values)].filter((value) => value !== '')
  const ofLinks = (read: (link: BuiltWorld['links'][number]) => string[]) => distinct(world.links.flatMap(read))
  return {
    ...Object.fromEntries(
      factNames.map((name) => [name, distinct(world.clicks.slice(0, 5_000).map(({ facts }) => facts[name]))]),
    ),
    domain: ofLinks(({ domain }) => [domain, domain.toUpperCase()]),
    linkId: [...ofLinks(({ id }) => [id]), 'link_unknown'],
    tenantId: ofLinks(({ tenantId }) => [tenantId]),
    tagId: ofLinks(({ tagIds }) => tagIds),
    folderId: ofLinks(({ folderId }) => [folderId]),
    partnerId: [...ofLinks(({ partnerId }) => [partnerId]), 'pn_3'],
    partnerTagId: [...ofLinks(({ partnerTagIds }) => partnerTagIds), 'ptag,2'],
    groupId: [...ofLinks(({ groupId }) => [groupId]), '-2'],
  }
}

function askFilter(
  asked: Asked,
  draft: FilterDraft,
  event: ModelEvent,
  pools: Record<string, string[]>,
  world: BuiltWorld,
): void {
  const { model, query } = asked
  const { name, picks, isOfTarget, flag, excluded } = draft
  const pick = <T>(from: T[]) => from[(picks[0] ?? 0) % from.length] as T
  const link = isOfTarget ? event.link : pick(world.links)
  switch (name) {
    case 'key':
      // With both a link and an external id, both must refer to the same link.
      model.link = model.link && model.link !== link ? { ...link } : link
      delete model.choices.domain
      query.domain = flag ? link.domain.toUpperCase() : link.domain
      query.key = flag ? link.key.toUpperCase() : link.key
      return
    case 'externalId':
      model.link = model.link && model.link !== link ? { ...link } : link
      query.externalId = `ext_${link.externalId}`
      return
    case 'customerId':
      model.customerId = isOfTarget && event.customerId ? event.customerId : pick(world.customerIds)
      query.customerId = model.customerId
      return
    case 'root':
    case 'qr':
      model[name] = flag
      query[name] = String(flag)
      return
    case 'saleType':
      model.saleType = flag ? 'new' : 'recurring'
      query.saleType = model.saleType
      return
    case 'query':
      model.metadata = draft.test
      query.query = writeTest(draft.test, excluded)
      return
    case 'programId':
      query.programId = draft.text
      return
    default: {
      if (name === 'domain' && query.key !== undefined) return
      const choice = chooseValues(draft, event, pools)
      const isHidden = name === 'tagIds' && query.tagId !== undefined
      if (!isHidden) model.choices[name === 'tagIds' ? 'tagId' : name] = choice
      query[name] = writeChoice(choice, draft.blanks)
    }
  }
}

function chooseValues(
  { name, picks, excluded, isOfTarget, text }: FilterDraft,
  event: ModelEvent,
  pools: Record<string, string[]>,
): Choice {
  const parameter = name === 'tagIds' ? 'tagId' : name
  const pool = pools[parameter] as string[]
  const values = picks.map((pick) => (pick % 20 === 7 ? text : (pool[pick % pool.length] as string)))
  const own =
    parameter === 'tagId'
      ? event.link.tagIds[0]
      : parameter === 'partnerTagId'
        ? event.link.partnerTagIds[0]
        : parameter === 'linkId'
          ? event.link.id
          : ((event.facts as Record<string, string>)[parameter] ?? (event.link as Record<string, unknown>)[parameter])
  if (isOfTarget && !excluded && typeof own === 'string' && own !== '') values[0] = own
  return { values, excluded }
}

function writeChoice({ values, excluded }: Choice, blanks: boolean): string {
  const texts = values.map((value, index) => {
    const text = value.replaceAll(/[\\,]/g, '\\$&').replaceAll(/^ | $/g, '\\ ')
    return index === 0 && !excluded && text.startsWith('-') ? `\\${text}` : text
  })
  return (excluded ? '-' : '') + texts.join(blanks ? ' , ' : ',')
}

function metadataTest({ metadataDocuments }: BuiltWorld): fc.Arbitrary<MetadataTest> {
  const paths = [
    ...new Set(metadataDocuments.flatMap((document) => pathsIn(document).map((path) => JSON.stringify(path)))),
  ].map((path) => JSON.parse(path) as string[])
  const texts = [...new Set(metadataDocuments.flatMap(leavesIn))].flatMap((leaf) => [
    leaf,
    leaf,
    ...(leaf === '5' ? ['5.0', '5e0', '05'] : []),
  ])
  const one = fc.record({
    path: fc.constantFrom(...paths, ['none'], ['plan', 'none'], ['a', 'c', 'd', 'e']),
    comparison: fc.constantFrom<Comparison>('=', '=', '=', '!=', '>', '>=', '<', '<='),
    text: fc.oneof(
      fc.constantFrom(...texts, '100000000000000000000', '1e999', '-0', 'zzz', '2025-01-01'),
      fc.integer({ min: -10, max: 110 }).map(String),
    ),
  })
  const some = fc.array(one, { minLength: 2, maxLength: 3 })
  return fc.oneof(
    { weight: 4, arbitrary: one },
    some.map((all) => ({ all })),
    some.map((any) => ({ any })),
    fc.tuple(one, some).map(([first, any]) => ({ all: [first, { any }] })),
    fc.tuple(one, some).map(([first, all]) => ({ any: [first, { all }] })),
  )
}

function pathsIn(value: unknown, path: string[] = []): string[][] {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return [path]
  return Object.entries(value).flatMap(([key, inner]) => pathsIn(inner, [...path, key]))
}

function leavesIn(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [String(value)]
  return Object.values(value).flatMap(leavesIn)
}

function writeTest(test: MetadataTest, isInner: boolean): string {
  const quote = isInner ? '"' : "'"
  const quoted = (text: string) => quote + text.replaceAll(/['"\\]/g, '\\$&') + quote
  if ('all' in test)
    return test.all
      .map((part) => ('any' in part ? `(${writeTest(part, isInner)})` : writeTest(part, isInner)))
      .join(' AND ')
  if ('any' in test) return test.any.map((part) => writeTest(part, isInner)).join(' or ')
  const sign = test.comparison === '=' && isInner ? ':' : test.comparison
  return `metadata${test.path.map((key) => `[${quoted(key)}]`).join('')}${sign}${quoted(test.text)}`
}

const momentDraft = fc.record({
  form: fc.constantFrom('date', 'local', 'utc', 'offset', 'hours', 'words'),
  hoursAgo: fc.oneof(
    fc.integer({ min: 0, max: 30 }),
    fc.integer({ min: 0, max: 24 * 20 }),
    fc.integer({ min: 0, max: 24 * 420 }),
  ),
  ms: fc.nat(hourMs - 1),
})
const periodDraft = fc.record({
  zone: fc.option(fc.constantFrom(...zones)),
  interval: fc.option(fc.constantFrom(...intervals)),
  start: fc.option(momentDraft, { freq: 2 }),
  end: fc.option(momentDraft, { freq: 2 }),
})
type PeriodDraft = typeof periodDraft extends fc.Arbitrary<infer Draft> ? Draft : never
type MomentDraft = NonNullable<PeriodDraft['start']>

function askPeriod(asked: Asked, draft: PeriodDraft, now: number): void {
  const { model, query } = asked
  const zone = draft.zone ?? 'UTC'
  if (draft.zone) query.timezone = draft.zone
  const start = draft.start && chooseMoment(draft.start, zone, now)
  const end = draft.end && chooseMoment(draft.end, zone, now)
  // An end without a start has no effect.
  const to = (start && end?.next) || now + 1
  if (draft.interval) query.interval = draft.interval
  const from = start?.first ?? intervalStart(draft.interval ?? '24h', zone, now)
  // The API rejects an empty period.
  if (start && from >= to) {
    askPeriod(asked, { ...draft, start: null }, now)
    return
  }
  if (start) query.start = start.text
  if (end) query.end = end.text
  model.from = from
  model.to = to
}

function chooseMoment(
  { form, hoursAgo, ms }: MomentDraft,
  zone: string,
  now: number,
): { text: string; first: number; next: number } {
  const at = now - hoursAgo * hourMs - ms
  const moment = (text: string, first: number) => ({ text, first, next: first })
  const day = (text: string, date: string) => ({
    text,
    first: midnightIn(zone, date),
    next: midnightIn(zone, addDays(date, 1)),
  })
  const clock = clockIn(zone, at)
  switch (form) {
    case 'date':
      return day(clock.slice(0, 10), clock.slice(0, 10))
    case 'local':
      return moment(clock.replace(' ', ms % 2 ? 'T' : ' '), firstSame(zone, at))
    case 'utc':
      return moment(new Date(at).toISOString(), at)
    case 'offset':
      return moment(new Date(at + 5.5 * hourMs).toISOString().replace('Z', '+05:30'), at)
    case 'hours':
      return moment(`${hoursAgo + 1} hours ago`, now - (hoursAgo + 1) * hourMs)
    default: {
      const yesterday = addDays(clockIn(zone, now).slice(0, 10), -1)
      if (ms % 2) return day('yesterday', yesterday)
      const guess = midnightIn(zone, yesterday) + 17 * hourMs
      const ahead = Date.parse(`${clockIn(zone, guess).replace(' ', 'T')}Z`) - Date.parse(`${yesterday}T17:00:00Z`)
      return moment('yesterday at 5pm', guess - ahead)
    }
  }
}

function intervalStart(interval: string, zone: string, now: number): number {
  const date = clockIn(zone, now).slice(0, 10)
  const month = Number(date.slice(5, 7))
  const quarter = String(month - ((month - 1) % 3)).padStart(2, '0')
  switch (interval) {
    case 'all':
      return 0
    case 'mtd':
      return midnightIn(zone, `${date.slice(0, 8)}01`)
    case 'qtd':
      return midnightIn(zone, `${date.slice(0, 5)}${quarter}-01`)
    case 'ytd':
      return midnightIn(zone, `${date.slice(0, 5)}01-01`)
    default: {
      const days = { '24h': 1, '1y': 365 }[interval] ?? Number.parseInt(interval, 10)
      return now - days * 24 * hourMs
    }
  }
}
