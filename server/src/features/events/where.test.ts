import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EventFilter, type FilterQuery, parseFilter, parseValues } from './filter.ts'
import { metadataCondition } from './metadata.ts'
import { buildWhere, type EventKind } from './where.ts'

const period = { from: new Date(1_000), to: new Date(2_000) }
const always = [
  'workspace_id = {workspaceId:String}',
  'timestamp >= fromUnixTimestamp64Milli({from:Int64})',
  'timestamp < fromUnixTimestamp64Milli({to:Int64})',
  "bot = ''",
].join('\n  AND ')
const bound = { workspaceId: 'ws_1', from: 1_000, to: 2_000 }

type Given = FilterQuery & Partial<Pick<EventFilter, 'linkNumbers' | 'hiddenFolders'>>
const whereFor = ({ linkNumbers, hiddenFolders = [], ...query }: Given, kind?: EventKind) =>
  buildWhere('ws_1', period, { ...parseFilter(query).filter, linkNumbers, hiddenFolders }, kind)

const ofLinks = (condition: string, operator = 'IN') =>
  `link_number ${operator} (SELECT link_number FROM link_attributes FINAL WHERE workspace_id = {workspaceId:String} AND ${condition})`
const notOfLinks = (condition: string) => ofLinks(`(${condition})`, 'NOT IN')

const ofPartners = (condition: string) =>
  `partner_id IN (SELECT partner_id FROM partner_attributes FINAL WHERE workspace_id = {workspaceId:String} AND ${condition})`

test("links in the caller's hidden folders are excluded, whatever the query filters by", () => {
  const hidden = 'folder_id IN {hiddenFolders:Array(String)}'
  expect(whereFor({ hiddenFolders: ['fold_1'] })).toEqual({
    text: `${always}\n  AND ${notOfLinks(hidden)}`,
    values: { ...bound, hiddenFolders: ['fold_1'] },
  })
  const { text, values } = whereFor({ folderId: 'fold_1', hiddenFolders: ['fold_1'] })
  expect(text).toContain(`AND ${ofLinks('folder_id IN {folderId:Array(String)}')}\n  AND ${notOfLinks(hidden)}`)
  expect(values).toEqual({ ...bound, folderId: ['fold_1'], hiddenFolders: ['fold_1'] })
})

test('without a filter the WHERE clause is workspace, period and no bots, in this order', () => {
  expect(whereFor({})).toEqual({ text: always, values: bound })
})

describe('each filter adds one condition', () => {
  test.each<[Given, string, Record<string, unknown>]>([
    [{ country: 'US' }, 'country IN {country:Array(String)}', { country: ['US'] }],
    [{ country: 'US,DE' }, 'country IN {country:Array(String)}', { country: ['US', 'DE'] }],
    [{ country: '-US,DE' }, 'country NOT IN {country:Array(String)}', { country: ['US', 'DE'] }],
    [{ city: 'San Francisco' }, 'city IN {city:Array(String)}', { city: ['San Francisco'] }],
    [{ region: 'US-CA' }, 'region IN {region:Array(String)}', { region: ['US-CA'] }],
    [{ continent: 'EU' }, 'continent IN {continent:Array(String)}', { continent: ['EU'] }],
    [{ device: 'Mobile' }, 'device IN {device:Array(String)}', { device: ['Mobile'] }],
    [{ browser: '-Chrome' }, 'browser NOT IN {browser:Array(String)}', { browser: ['Chrome'] }],
    [{ os: 'iOS' }, 'os IN {os:Array(String)}', { os: ['iOS'] }],
    [{ trigger: 'qr,link' }, 'trigger IN {trigger:Array(String)}', { trigger: ['qr', 'link'] }],
    [{ referer: 't.co' }, 'referer IN {referer:Array(String)}', { referer: ['t.co'] }],
    [{ refererUrl: 'https://t.co/x' }, 'referer_url IN {refererUrl:Array(String)}', { refererUrl: ['https://t.co/x'] }],
    [{ url: 'https://example.com/' }, 'url IN {url:Array(String)}', { url: ['https://example.com/'] }],
    [{ utm_source: 'a' }, 'utm_source IN {utm_source:Array(String)}', { utm_source: ['a'] }],
    [{ utm_medium: 'a' }, 'utm_medium IN {utm_medium:Array(String)}', { utm_medium: ['a'] }],
    [{ utm_campaign: 'a' }, 'utm_campaign IN {utm_campaign:Array(String)}', { utm_campaign: ['a'] }],
    [{ utm_term: 'a' }, 'utm_term IN {utm_term:Array(String)}', { utm_term: ['a'] }],
    [{ utm_content: '-a' }, 'utm_content NOT IN {utm_content:Array(String)}', { utm_content: ['a'] }],
    [{ qr: true }, "trigger = 'qr'", {}],
    [{ qr: false }, "trigger = 'link'", {}],
    [{ domain: 'go.example.com' }, ofLinks('domain IN {domain:Array(String)}'), { domain: ['go.example.com'] }],
    [{ domain: '-Go.Example.COM' }, notOfLinks('domain IN {domain:Array(String)}'), { domain: ['go.example.com'] }],
    [{ tenantId: 'a' }, ofLinks('tenant_id IN {tenantId:Array(String)}'), { tenantId: ['a'] }],
    [{ folderId: '-a' }, notOfLinks('folder_id IN {folderId:Array(String)}'), { folderId: ['a'] }],
    [{ partnerId: 'a' }, ofLinks('partner_id IN {partnerId:Array(String)}'), { partnerId: ['a'] }],
    [{ tagId: 'a,b' }, ofLinks('hasAny(tag_ids, {tagIds:Array(String)})'), { tagIds: ['a', 'b'] }],
    [{ tagId: '-a' }, notOfLinks('hasAny(tag_ids, {tagIds:Array(String)})'), { tagIds: ['a'] }],
    [{ tagId: ' ', tagIds: 'b' }, ofLinks('hasAny(tag_ids, {tagIds:Array(String)})'), { tagIds: ['b'] }],
    [{ tagIds: 'a' }, ofLinks('hasAny(tag_ids, {tagIds:Array(String)})'), { tagIds: ['a'] }],
    [{ root: true }, ofLinks('is_root'), {}],
    [{ root: false }, ofLinks('NOT is_root'), {}],
    [{ groupId: 'a' }, ofLinks(ofPartners('group_id IN {groupId:Array(String)}')), { groupId: ['a'] }],
    [{ groupId: '-a' }, notOfLinks(ofPartners('group_id IN {groupId:Array(String)}')), { groupId: ['a'] }],
    [
      { partnerTagId: 'a,b' },
      ofLinks(ofPartners('hasAny(tag_ids, {partnerTagId:Array(String)})')),
      { partnerTagId: ['a', 'b'] },
    ],
    [
      { customerId: 'a' },
      'id IN (SELECT click_id FROM lead_events WHERE workspace_id = {workspaceId:String} AND customer_id = {customerId:String}' +
        ' UNION ALL SELECT click_id FROM sale_events WHERE workspace_id = {workspaceId:String} AND customer_id = {customerId:String})',
      { customerId: 'a' },
    ],
    [{ city: 'Washington\\, D.C.,Rome' }, 'city IN {city:Array(String)}', { city: ['Washington, D.C.', 'Rome'] }],
    [
      { linkNumbers: [{ numbers: [1n, 2n ** 63n], excluded: false }] },
      'link_number IN {links0:Array(UInt64)}',
      { links0: [1n, 2n ** 63n] },
    ],
    [
      { linkNumbers: [{ numbers: [1n], excluded: true }] },
      'link_number NOT IN {links0:Array(UInt64)}',
      { links0: [1n] },
    ],
  ])('%o', (filter, condition, values) => {
    expect(whereFor(filter)).toEqual({
      text: `${always}\n  AND ${condition}`,
      values: { ...bound, ...values },
    })
  })
})

test('filters are joined by AND, in a fixed order', () => {
  const filter: Given = {
    root: false,
    domain: 'a.example,b.example',
    tagId: 't',
    linkNumbers: [
      { numbers: [1n], excluded: false },
      { numbers: [2n], excluded: true },
    ],
    tenantId: '-t',
    partnerId: '-p',
    trigger: '-pageview',
    country: 'US',
  }
  expect(whereFor(filter).text).toBe(`workspace_id = {workspaceId:String}
  AND timestamp >= fromUnixTimestamp64Milli({from:Int64})
  AND timestamp < fromUnixTimestamp64Milli({to:Int64})
  AND bot = ''
  AND country IN {country:Array(String)}
  AND trigger NOT IN {trigger:Array(String)}
  AND link_number IN {links0:Array(UInt64)}
  AND link_number NOT IN {links1:Array(UInt64)}
  AND link_number IN (SELECT link_number FROM link_attributes FINAL WHERE workspace_id = {workspaceId:String} AND domain IN {domain:Array(String)} AND hasAny(tag_ids, {tagIds:Array(String)}) AND NOT is_root)
  AND link_number NOT IN (SELECT link_number FROM link_attributes FINAL WHERE workspace_id = {workspaceId:String} AND (tenant_id IN {tenantId:Array(String)} OR partner_id IN {partnerId:Array(String)}))`)
})

test.each<[string, Given]>([
  ['an empty text', { country: '' }],
  ['only commas', { country: ' , ,', tagId: ',', groupId: ',' }],
  ['only the exclusion mark', { country: '-', tagId: '-', groupId: '-' }],
  ['filters only for leads and sales', { saleType: 'new', query: "metadata['a']:'b'" }],
  ['the program, because a workspace has one', { programId: 'prog_1' }],
])('%s adds no condition', (_name, filter) => {
  expect(whereFor(filter)).toEqual({ text: always, values: bound })
})

describe('leads and sales', () => {
  const query = "metadata['plan']:'pro'"
  const ofMetadata = metadataCondition(query, {})

  test.each<[EventKind, Given, string[]]>([
    ['leads', {}, []],
    ['sales', {}, []],
    ['leads', { customerId: 'c', saleType: 'new' }, ['customer_id = {customerId:String}']],
    ['sales', { customerId: 'c' }, ['customer_id = {customerId:String}']],
    ['sales', { saleType: 'new' }, ['sale_type = {saleType:String}']],
    ['leads', { query }, [ofMetadata]],
    ['sales', { query }, [ofMetadata]],
    ['leads', { query: ' ' }, []],
  ])('%s %o', (kind, filter, conditions) => {
    expect(whereFor(filter, kind).text).toBe([always, ...conditions].join('\n  AND '))
  })

  test.each(['clicks', 'leads', 'sales'] as const)('an invalid metadata query is refused for %s', (kind) => {
    expect(() => whereFor({ query: 'plan:pro' }, kind)).toThrow('`query` in the query')
  })
})

test('a filter can have at most 1000 values', () => {
  const country = (count: number) => ({ country: Array.from({ length: count }, (_, index) => index).join(',') })
  expect(whereFor(country(1_000)).values.country).toHaveLength(1_000)
  expect(() => whereFor(country(1_001))).toThrow('`country` in the query must have at most 1000 values, not 1001.')
})

test.each([
  ['a', ['a'], false],
  ['a,b', ['a', 'b'], false],
  [' a , b ', ['a', 'b'], false],
  ['-a,b', ['a', 'b'], true],
  ['a,-b', ['a', '-b'], false],
  ['--a', ['-a'], true],
  ['-', [], true],
  ['', [], false],
  ['Washington\\, D.C.', ['Washington, D.C.'], false],
  ['-a\\,b,c', ['a,b', 'c'], true],
  ['\\-a', ['-a'], false],
  ['-\\-a,-b', ['-a', '-b'], true],
  ['\\\\,b', ['\\', 'b'], false],
  ['C:\\x\\', ['C:\\x\\'], false],
  ['\\ a \\ ', [' a  '], false],
  ['a  b ,😀', ['a  b', '😀'], false],
])('the parameter value %j is parsed as %j', (text, values, excluded) => {
  expect(parseValues(text)).toEqual({ values, excluded })
})

test('every filter value can be escaped', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', minLength: 1 }), { minLength: 1 }),
      fc.boolean(),
      (values, excluded) => {
        const expected = values.filter((value) => !/[\t-\r\u0085-\uffff]/.test(value.trim() === value ? '' : value))
        fc.pre(expected.length > 0)
        const text = expected.map((value) => value.replaceAll(/[\\, -]/g, '\\$&')).join(',')
        expect(parseValues(excluded ? `-${text}` : text)).toEqual({ values: expected, excluded })
      },
    ),
  )
})
