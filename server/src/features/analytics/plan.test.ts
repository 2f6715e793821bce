import { describe, expect, test } from 'vitest'
import { type FilterQuery, parseFilter } from '../events/filter.ts'
import { type CountQuery, type Plan, planFor, rangesFor } from './plan.ts'

const hours = (...list: number[]) => list.map((hour) => hour * 3_600)
type Given = Partial<Omit<CountQuery, 'filter'>> & { filter?: FilterQuery; hiddenFolders?: string[] }
const plannedQuery = ({ filter: query = {}, hiddenFolders = [], ...given }: Given): CountQuery => {
  const { filter, links } = parseFilter(query)
  const linkNumbers = links.map(({ excluded }) => ({ numbers: [1n], excluded }))
  return { groupBy: 'count', filter: { ...filter, linkNumbers, hiddenFolders }, visitors: false, edges: [], ...given }
}

describe('planFor', () => {
  const cases: [string, Given, Plan][] = [
    ['a total', {}, 'workspace'],
    ['a total of a period', { filter: { interval: '1y', start: 'x', end: 'y', timezone: 'UTC' } }, 'workspace'],
    ['a total with bots', { filter: { bots: 'include' } }, 'workspace'],
    ['an empty filter', { filter: { country: '' } }, 'workspace'],
    ['parameters without effect', { filter: { programId: 'prog_1' } }, 'workspace'],
    ['visitors', { visitors: true }, 'rows'],
    ['a total without hidden folders', { hiddenFolders: ['fold_1'] }, 'links'],
    ['countries without hidden folders', { groupBy: 'countries', hiddenFolders: ['fold_1'] }, 'rows'],
    ['a total of a country without hidden folders', { filter: { country: 'DE' }, hiddenFolders: ['fold_1'] }, 'rows'],
    ['a total of a link', { filter: { linkId: 'link_1' } }, 'links'],
    ['a total of a tag, and root', { filter: { tagId: '-tag_1', root: false } }, 'links'],
    ['a total of a country', { filter: { country: 'DE,AT' } }, 'dimension'],
    ['a total of a country with bots', { filter: { country: 'DE', bots: 'only' } }, 'rows'],
    ['a total of a country and a device', { filter: { country: 'DE', device: 'Mobile' } }, 'rows'],
    ['a total of a country of a link', { filter: { country: 'DE', linkId: 'link_1' } }, 'rows'],
    ['a total of a region', { filter: { region: 'DE-BE' } }, 'rows'],
    ['a total of a customer', { filter: { customerId: 'cus_1' } }, 'rows'],
    ['a total of first sales', { filter: { saleType: 'new' } }, 'rows'],
    ['a total of a destination', { filter: { url: 'https://example.com' } }, 'dimension'],
    ['a total of a referrer', { filter: { refererUrl: 'https://example.com' } }, 'dimension'],
    ['a total of a destination of a link', { filter: { url: 'https://example.com', linkId: 'link_1' } }, 'rows'],
    ['a total of QR codes', { filter: { qr: true } }, 'dimension'],
    ['a total of links', { filter: { qr: false } }, 'dimension'],
    ['triggers without QR codes', { groupBy: 'triggers', filter: { qr: false } }, 'dimension'],
    ['a total of links by both names', { filter: { qr: false, trigger: 'link,pageview' } }, 'rows'],
    ['a series off the hour', { groupBy: 'timeseries', edges: hours(7.1, 8.5, 9.75) }, 'workspace'],
    ['a series off the quarter', { groupBy: 'timeseries', edges: hours(1, 2.1) }, 'rows'],
    ['a series of a folder', { groupBy: 'timeseries', edges: hours(0.5, 1, 2), filter: { folderId: 'f' } }, 'links'],
    ['the same off the hour', { groupBy: 'timeseries', edges: hours(1, 2.5), filter: { folderId: 'f' } }, 'rows'],
    [
      'a series of a country',
      { groupBy: 'timeseries', edges: hours(5, 24, 48), filter: { country: 'DE' } },
      'dimension',
    ],
    ['the same in another zone', { groupBy: 'timeseries', edges: hours(1, 25), filter: { country: 'DE' } }, 'rows'],
    ['top links', { groupBy: 'top_links' }, 'links'],
    ['top links of a domain', { groupBy: 'top_links', filter: { domain: 'a.example' } }, 'links'],
    ['top links of a country', { groupBy: 'top_links', filter: { country: 'DE' } }, 'rows'],
    ['top tags with bots', { groupBy: 'top_link_tags', filter: { bots: 'include' } }, 'links'],
    ['countries', { groupBy: 'countries' }, 'dimension'],
    ['countries with bots', { groupBy: 'countries', filter: { bots: 'include' } }, 'rows'],
    ['some countries', { groupBy: 'countries', filter: { country: '-DE' } }, 'dimension'],
    ['countries of a link', { groupBy: 'countries', filter: { linkId: 'link_1' } }, 'rows'],
    ['cities', { groupBy: 'cities' }, 'dimension'],
    ['cities of a country', { groupBy: 'cities', filter: { country: 'DE' } }, 'rows'],
    ['some cities', { groupBy: 'cities', filter: { city: 'Berlin' } }, 'rows'],
    ['UTM terms', { groupBy: 'utm_terms' }, 'dimension'],
    ['destinations', { groupBy: 'top_urls' }, 'dimension'],
    ['destinations without query', { groupBy: 'top_base_urls' }, 'dimension'],
    ['the same of a destination', { groupBy: 'top_base_urls', filter: { url: 'https://example.com' } }, 'rows'],
    ['whole referrers', { groupBy: 'referer_urls' }, 'dimension'],
  ]
  test.each(cases)('%s', (_, given, plan) => {
    expect(planFor(plannedQuery(given))).toBe(plan)
  })
})

const iso = (second: number) => new Date(second * 1000).toISOString().replace('.000', '')
const quarters = (from: string, to: string) => ['workspaceCounts', from, to]
const hoursOfLinks = (from: string, to: string) => ['linkCounts', from, to]
const daysOfLinks = (from: string, to: string) => ['linkDays', from, to]
const monthsOfLinks = (from: string, to: string) => ['linkMonths', from, to]

test.each<[Plan, string, string, string[][]]>([
  ['rows', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', []],
  [
    'workspace',
    '2026-01-01T00:01:00Z',
    '2026-01-01T00:44:59Z',
    [quarters('2026-01-01T00:15:00Z', '2026-01-01T00:30:00Z')],
  ],
  ['workspace', '2026-01-01T00:01:00Z', '2026-01-01T00:29:59Z', []],
  [
    'links',
    '2026-01-01T00:00:00Z',
    '2026-01-01T02:00:00.001Z',
    [hoursOfLinks('2026-01-01T00:00:00Z', '2026-01-01T02:00:00Z')],
  ],
  [
    'links',
    '2026-01-01T05:30:00Z',
    '2026-01-03T02:00:00.001Z',
    [
      hoursOfLinks('2026-01-01T06:00:00Z', '2026-01-03T02:00:00Z'),
      daysOfLinks('2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z'),
    ],
  ],
  [
    'dimension',
    '2026-01-01T00:00:00.001Z',
    '2026-01-03T23:00:00Z',
    [['dimensionCounts', '2026-01-02T00:00:00Z', '2026-01-03T00:00:00Z']],
  ],
  [
    'links',
    '1900-01-02T00:00:00Z',
    '2299-12-31T00:00:00Z',
    [
      hoursOfLinks('1970-01-01T01:00:00Z', '2106-02-07T06:00:00Z'),
      daysOfLinks('1970-01-02T00:00:00Z', '2106-02-07T00:00:00Z'),
      monthsOfLinks('1970-02-01T00:00:00Z', '2106-02-01T00:00:00Z'),
    ],
  ],
  [
    'dimension',
    '2025-11-16T13:00:00Z',
    '2026-01-03T23:00:00Z',
    [
      ['dimensionCounts', '2025-11-17T00:00:00Z', '2026-01-03T00:00:00Z'],
      ['dimensionMonths', '2025-12-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ],
  ],
])('whole rollup buckets of %s from %s to %s', (plan, from, to, expected) => {
  const found = rangesFor(plan, [], { from: new Date(from), to: new Date(to) })
  expect(found.map(({ rollup, from, to }) => [rollup, iso(from), iso(to)])).toEqual(expected)
})

test('a series of links by local days reads no UTC days', () => {
  const period = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-09T00:00:00Z') }
  expect(rangesFor('links', hours(0, 1, 25), period).map(({ rollup }) => rollup)).toEqual(['linkCounts'])
  expect(rangesFor('links', hours(0, 24, 48), period).map(({ rollup }) => rollup)).toEqual(['linkDays'])
})

test('days before the first complete day of a rollup are read from finer ones', () => {
  const period = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-09T00:00:00Z') }
  const read = (plan: Plan, firstDays: object) =>
    rangesFor(plan, [], period, firstDays).map(({ rollup, from, to }) => [rollup, iso(from), iso(to)])
  expect(read('links', { linkDays: '2026-01-05' })).toEqual([
    hoursOfLinks('2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z'),
    daysOfLinks('2026-01-05T00:00:00Z', '2026-01-09T00:00:00Z'),
  ])
  expect(read('links', { linkDays: '2026-02-01' })).toEqual([
    hoursOfLinks('2026-01-01T00:00:00Z', '2026-01-09T00:00:00Z'),
  ])
  expect(read('dimension', { dimensionCounts: '2026-01-03' })).toEqual([
    ['dimensionCounts', '2026-01-03T00:00:00Z', '2026-01-09T00:00:00Z'],
  ])
})

test('the last buckets of a period that reaches now are whole', () => {
  const period = { from: new Date('2025-12-31T00:00:00Z'), to: new Date('2026-02-09T10:20:30.001Z'), isOpen: true }
  const read = (plan: Plan) => rangesFor(plan, [], period).map(({ rollup, from, to }) => [rollup, iso(from), iso(to)])
  expect(read('workspace')).toEqual([['workspaceCounts', '2025-12-31T00:00:00Z', '2026-03-01T00:00:00Z']])
  expect(read('links')).toEqual([
    daysOfLinks('2025-12-31T00:00:00Z', '2026-03-01T00:00:00Z'),
    monthsOfLinks('2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z'),
  ])
})
