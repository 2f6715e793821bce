import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { type AnalyticsBatch, groupings } from '@tributary/contract/analytics'
import { operations } from '@tributary/contract/index'
import { roleScopes } from '@tributary/contract/permissions'
import { newShare } from '@tributary/contract/shares'
import { beforeAll, describe, expect, test } from 'vitest'
import { createCommission } from '../src/features/commissions/create.ts'
import { createDiscountCode } from '../src/features/discount-codes/service.ts'
import { createDiscount } from '../src/features/discounts/service.ts'
import { createFolder } from '../src/features/folders/service.ts'
import { createGroup } from '../src/features/groups/service.ts'
import { deleteLink, linkNumbers } from '../src/features/links/service.ts'
import { createReward } from '../src/features/rewards/manage.ts'
import { createShare } from '../src/features/shares/service.ts'
import { insertDeliveries, insertEvents } from '../src/features/webhooks/deliveries-store.ts'
import { newId } from '../src/platform/ids.ts'
import { buildCustomer, buildLink, buildPartner, buildProgram, buildWorkspace } from './build.ts'
import { contextIn } from './context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from './events/feed-rows.ts'
import { type Call, readAnswer, serveMembers } from './restricted-caller.ts'
import { eventually, openTestPlatform } from './stack.ts'
import { buildWebhook } from './webhooks.ts'

/*
 * Calls every operation that reads, as a member who may not read one folder: no response may contain the folder or its
 * links. New operations are included automatically.
 */
const platform = await openTestPlatform()
const workspace = await buildWorkspace(platform)
const ctx = contextIn(platform, workspace.id)
const secret = `secret-${randomUUID()}`
const folder = await createFolder(ctx, { name: secret, accessLevel: null })
const open = await createFolder(ctx, { name: 'open', accessLevel: 'read' })
const call: Call = await serveMembers(platform, workspace.id, { hidden: [folder.id], readOnly: [open.id] })
const ids: Record<string, string> = {}
const secrets: string[] = [secret, folder.id]
const counted = { hidden: 5, shown: 3 }

const readers = operations.filter(
  (operation) =>
    (operation.kind === 'json' || operation.kind === 'stream') &&
    operation.id !== 'streamEvents' &&
    (operation.method === 'get' || operation.scope.endsWith('.read')),
)

beforeAll(async () => {
  await buildProgram(platform, workspace)
  const group = await createGroup(ctx, { name: 'group', slug: 'group' })
  await createDiscount(ctx, { groupId: group.id, type: 'flat', amount: 1 })
  await createReward(ctx, { groupId: group.id, event: 'sale', type: 'flat', amountInCents: 1 })
  const partner = await buildPartner(platform, workspace, { groupId: group.id })
  const hidden = await buildLink(platform, workspace, {
    ...{ key: secret, url: `https://example.com/${secret}`, externalId: secret, title: secret },
    ...{ folderId: folder.id, partnerId: partner.id, trackConversion: true },
  })
  const shown = await buildLink(platform, workspace, { key: 'shown', folderId: open.id, partnerId: partner.id })
  const removed = { key: `${secret}-deleted`, folderId: folder.id }
  await deleteLink(ctx, (await buildLink(platform, workspace, removed)).id)
  const [number = 0n] = await linkNumbers(ctx, { ids: [hidden.id] })
  const [other = 0n] = await linkNumbers(ctx, { ids: [shown.id] })
  const customer = await buildCustomer(platform, workspace, {}, { clickId: '', linkNumber: number })
  await createDiscountCode(ctx, { partnerId: partner.id, linkId: hidden.id, code: 'CODE' })
  const sale = { saleAmount: 500, invoiceId: 'in_hidden' }
  await createCommission(ctx, {
    type: 'sale',
    partnerId: partner.id,
    linkId: hidden.id,
    customerId: customer.id,
    ...sale,
  })
  await storeBoth(number, other, customer.id)
  const webhook = { url: 'https://localhost/', folder_ids: [folder.id], scope: 'folders' as const }
  const { id: webhookId } = await buildWebhook(platform, workspace.id, { ...webhook, disabled_at: new Date() })
  const event = {
    ...{ id: newId('evt'), event: 'link.created' as const, customerId: null, body: JSON.stringify({ data: hidden }) },
    ...{ createdAt: new Date().toISOString(), webhookIds: [webhookId] },
  }
  await insertEvents(platform.db, workspace.id, [event])
  await insertDeliveries(platform.db, workspace.id, [event], new Date())
  secrets.push(hidden.id)
  ids.shares = (await createShare(ctx, newShare.parse({ linkId: hidden.id }))).id
  Object.assign(ids, {
    ...{
      hidden: hidden.id,
      linkId: hidden.id,
      shown: shown.id,
      hiddenNumber: String(number),
      shownNumber: String(other),
    },
    ...{ customers: customer.id, partners: partner.id, groups: group.id, webhooks: webhookId, eventId: event.id },
  })
  await eventually(async () => {
    const [commission] = JSON.parse((await readAnswer(await call('free', 'get', '/commissions'))).text)
    ids.commissions = commission.id
  }, 20_000)
  // The worker copies folders of links to ClickHouse a moment later.
  await eventually(async () => expect(await countClicks('restricted')).toBe(counted.shown), 20_000)
}, 60_000)

async function storeBoth(hidden: bigint, shown: bigint, customerId: string): Promise<void> {
  const owners = [
    { owner: { workspaceId: workspace.id, linkNumber: hidden }, count: counted.hidden, country: 'FR' },
    { owner: { workspaceId: workspace.id, linkNumber: shown }, count: counted.shown, country: 'DE' },
  ]
  for (const { owner, count, country } of owners) {
    const url = country === 'FR' ? `https://example.com/${secret}` : 'https://example.com/shown'
    const given = { country, url, utm_source: country === 'FR' ? secret : 'shown' }
    await storeEvents(platform, {
      clicks: Array.from({ length: count }, (_, index) => clickRow(owner, { ...given, ip: `::ffff:10.0.0.${index}` })),
      leads: [leadRow(owner, { ...given, customer_id: customerId })],
      sales: [saleRow(owner, { ...given, customer_id: customerId })],
    })
  }
}

async function countClicks(caller: 'free' | 'restricted'): Promise<number> {
  // Another time zone on each call, because equal queries share an answer for a while.
  const timezone = `Etc/GMT+${(countClicks.calls++ % 12) + 1}`
  const { text } = await readAnswer(await call(caller, 'get', '/analytics', { query: { interval: '7d', timezone } }))
  return JSON.parse(text).clicks
}
countClicks.calls = 0

type Operation = (typeof readers)[number]
type Attempt = { query: Record<string, string>; body?: object }

/** Requests that would show the folder: without a filter, with every grouping, and with each name of the hidden link. */
function attempts(operation: Operation): Attempt[] {
  const names = 'query' in operation ? Object.keys(operation.query.shape) : []
  const base: Record<string, string> = {
    ...(names.includes('includeExpandedFields') && { includeExpandedFields: 'true' }),
    ...(names.includes('interval') && { interval: '7d' }),
    ...(names.includes('partnerId') && operation.path.startsWith('/partners/') && { partnerId: ids.partners ?? '' }),
    ...(operation.id === 'retrieveLinkStats' && { linkIds: `${ids.hidden},${ids.shown}` }),
    ...(operation.id === 'getLinkInfo' && { linkId: ids.hidden ?? '' }),
    ...(operation.id === 'explainEvent' && { invoiceId: 'in_hidden' }),
    ...(operation.id === 'getMetatags' && { url: 'http://localhost/' }),
  }
  const byName: Record<string, string> = {
    ...{ linkId: ids.hidden ?? '', linkIds: ids.hidden ?? '', externalId: `ext_${secret}`, folderId: folder.id },
    ...{ search: secret, key: secret, startingAfter: ids.hidden ?? '', url: `https://example.com/${secret}` },
    ...{ customerId: ids.customers ?? '', partnerId: ids.partners ?? '', utm_source: secret },
  }
  const grouped = names.includes('groupBy') ? [...groupings, 'domain', 'tagId', 'folderId', 'userId'] : []
  const kinds = names.includes('event') ? ['clicks', 'leads', 'sales', 'composite'] : []
  const named = names.filter((name) => name in byName && operation.id !== 'getMetatags')
  const domain = { domain: workspace.domain }
  return [
    { query: base },
    ...grouped.map((groupBy) => ({ query: { ...base, groupBy } })),
    ...kinds.map((event) => ({ query: { ...base, event } })),
    ...named.map((name) => ({
      query: { ...base, ...(name === 'key' && domain), [name]: byName[name] ?? '', event: 'clicks' },
    })),
  ].map(({ query }) => ({ query: onlyKnown(query, names), body: bodyFor(operation) }))
}

function onlyKnown(query: Record<string, string>, names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => names.includes(name)))
}

function bodyFor({ id, method }: Operation): object | undefined {
  if (method === 'get') return undefined
  if (id === 'retrieveAnalyticsBatch') return { groupBy: groupings.slice(0, 20), interval: '7d', event: 'composite' }
  const terms = { event: 'sale', type: 'percentage', amountInPercentage: 10 }
  return { groupId: ids.groups, ...terms, start: new Date(Date.now() - 86_400_000).toISOString() }
}

function fillPath({ path }: Operation): string {
  const noun = path.split('/')[1] ?? ''
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ids[noun] ?? 'unknown')
}

const sees = (text: string) => secrets.filter((value) => text.includes(value))
const seenFreely = new Set<string>()

describe.each(readers)('$id', (operation) => {
  test('shows nothing of a hidden folder', async () => {
    for (const { query, body } of attempts(operation)) {
      const path = fillPath(operation)
      const ask = async (caller: 'free' | 'restricted') =>
        readAnswer(await call(caller, operation.method, path, { query, body }))
      if (!seenFreely.has(operation.id)) {
        const free = await ask('free')
        if (free.status < 300 && sees(free.text).length > 0) seenFreely.add(operation.id)
      }
      const { status, text } = await ask('restricted')
      const request = `${operation.method} ${path} ${JSON.stringify(query)}: ${status} ${text.slice(0, 2_000)}`
      expect(status, request).toBeLessThan(500)
      // An error repeats what the request names, and so does the check of a slug, which stays taken.
      if (status < 400 && operation.id !== 'checkSlug') expect(sees(text), request).toEqual([])
    }
  }, 60_000)
})

test('the same requests show the folder to a member without restrictions', () => {
  const expected = [
    ...['getLinks', 'getLinkInfo', 'getLinkGroups', 'listFolders', 'listEvents', 'exportEvents', 'retrieveLinkStats'],
    ...['retrieveAnalytics', 'retrieveAnalyticsBatch', 'getCustomers', 'getCustomer', 'listPartners', 'getPartner'],
    ...['retrievePartnerLinks', 'retrievePartnerAnalytics', 'listDiscountCodes', 'explainCommission', 'explainEvent'],
    ...['listWebhooks', 'getWebhook', 'getWebhookDelivery', 'listDeletedLinks', 'listShares', 'getShare'],
  ]
  expect([...seenFreely].sort()).toEqual(expect.arrayContaining(expected))
})

describe('figures', () => {
  const ask = async (caller: 'free' | 'restricted', query: Record<string, string>) =>
    JSON.parse((await readAnswer(await call(caller, 'get', '/analytics', { query }))).text)

  test.each(groupings)('%s counts the events outside of the folder, also beside cached answers', async (groupBy) => {
    for (const interval of groupBy === 'timeseries' || groupBy === 'count' ? ['24h', 'all'] : ['24h']) {
      const query = { groupBy, event: 'composite', interval, timezone: 'UTC' }
      const all = sumCounts(await ask('free', query))
      const rest = sumCounts(await ask('restricted', query))
      expect(rest, JSON.stringify(query)).toEqual(sumCounts(await ask('free', { ...query, folderId: `-${folder.id}` })))
      if (all.clicks > 0) expect(all).not.toEqual(rest)
    }
  })

  test('totals and the number of links are those of the other folders', async () => {
    const query = { interval: '24h', event: 'composite', visitors: 'true' }
    expect(await ask('restricted', query)).toMatchObject({ clicks: counted.shown, visitors: counted.shown, sales: 1 })
    expect((await ask('free', query)).clicks).toBe(counted.shown + counted.hidden)
    const count = async (caller: 'free' | 'restricted', search?: string) =>
      (await readAnswer(await call(caller, 'get', '/links/count', { query: search ? { search } : {} }))).text
    expect(Number(await count('free')) - Number(await count('restricted'))).toBe(1)
    expect([await count('free', secret), await count('restricted', secret)]).toEqual(['1', '0'])
  })

  test('a batch counts as the single queries do', async () => {
    const body = { groupBy: ['count', 'countries', 'top_links', 'timeseries'], interval: '24h', event: 'composite' }
    const answer = await readAnswer(await call('restricted', 'post', '/analytics/batch', { body }))
    const batch = JSON.parse(answer.text) as AnalyticsBatch
    expect(batch.count).toMatchObject({ clicks: counted.shown })
    expect(sumCounts(batch.countries).clicks).toBe(counted.shown)
    expect(batch.top_links).toHaveLength(1)
  })
})

test('a stream sends the events of other folders only', async () => {
  const stop = new AbortController()
  const response = await call('restricted', 'get', '/events/stream', {
    query: { event: 'clicks' },
    signal: stop.signal,
  })
  let text = ''
  const reading = (async () => {
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) text += chunk
  })().catch(() => undefined)
  await eventually(async () => expect(text).toContain('id: '))
  const owner = (number: string | undefined) => ({ workspaceId: workspace.id, linkNumber: BigInt(number ?? 0) })
  await storeEvents(platform, { clicks: [clickRow(owner(ids.hiddenNumber), { url: `https://example.com/${secret}` })] })
  await storeEvents(platform, { clicks: [clickRow(owner(ids.shownNumber))] })
  await eventually(async () => expect(text).toContain(ids.shown), 20_000)
  expect(sees(text)).toEqual([])
  stop.abort()
  await reading
})

test('10,000 hidden folders, the most that a workspace can have, restrict lists; events and figures take 2,000', async () => {
  const many = Array.from({ length: 9_999 }, () => newId('fold'))
  const [most, some] = [
    [folder.id, ...many],
    [folder.id, ...many.slice(0, 1_999)],
  ]
  const inMost = await serveMembers(platform, workspace.id, { hidden: most, readOnly: [] })
  for (const path of ['/links', '/folders', '/links/count', '/links/groups']) {
    const { status, text } = await readAnswer(await inMost('restricted', 'get', path, { query: { groupBy: 'domain' } }))
    expect(status, text.slice(0, 300)).toBe(200)
    expect(sees(text)).toEqual([])
  }
  const inSome = await serveMembers(platform, workspace.id, { hidden: some, readOnly: [] })
  for (const [path, query] of [
    ['/events', {}],
    ['/events', { event: 'sales', folderId: `-${folder.id}` }],
    ['/analytics', { event: 'composite', interval: 'all', groupBy: 'timeseries' }],
    ['/analytics', { event: 'composite', interval: '90d', groupBy: 'top_links' }],
    ['/analytics', { event: 'composite', interval: '90d', groupBy: 'countries' }],
  ] as const) {
    const { status, text } = await readAnswer(await inSome('restricted', 'get', path, { query }))
    expect(status, text.slice(0, 300)).toBe(200)
    expect(sees(text)).toEqual([])
    const refused = await readAnswer(await inMost('restricted', 'get', path, { query }))
    expect(refused.status).toBe(403)
    expect(refused.text).toContain(
      'You may not read 10000 folders of this workspace; events and analytics can leave out at most 2000',
    )
  }
})

test('the audit log is closed to members with a hidden folder', async () => {
  const { id } = await buildWorkspace(platform)
  const call = await serveMembers(platform, id, { hidden: ['fold_hidden'], readOnly: [] })
  for (const path of ['/audit-log', '/audit-log/export']) {
    expect((await call('free', 'get', path)).status).toBe(200)
    const refused = await readAnswer(await call('restricted', 'get', path))
    expect(refused.status).toBe(403)
    expect(refused.text).toContain('who may read all folders')
  }
})

test('no role with restricted folders may call operations that answer with any link', () => {
  // `track/*`, partners and webhooks act for the whole workspace, and embed links of every folder in their answers.
  const scopes = [roleScopes.member, roleScopes.viewer, roleScopes.billing].flat()
  const wide = [
    'apis.all',
    'conversions.write',
    'partners.write',
    'commissions.write',
    'webhooks.write',
    'domains.write',
  ]
  expect(scopes.filter((scope) => wide.includes(scope))).toEqual([])
})

test('links are read through links/access.ts, which hides those in hidden folders', () => {
  const directory = new URL('../src/features/links/', import.meta.url)
  const direct = readdirSync(directory).filter((file) => {
    const text = readFileSync(new URL(file, directory), 'utf8')
    return !/test|store/.test(file) && /\bselectLink(sByNumber|ForUpdate)?\b/.test(text)
  })
  // The others write: they publish whole links, follow domains and partners, or attribute conversions.
  expect(direct).toEqual(['access.ts', 'follow-domains.ts', 'many.ts', 'partner-links.ts', 'service.ts', 'write.ts'])
})

type Counts = { clicks: number; leads: number; sales: number; saleAmount: number }

function sumCounts(answer: unknown): Counts {
  const rows = [answer].flat() as Counts[]
  const sum = (name: keyof Counts) => rows.reduce((total, row) => total + (row?.[name] ?? 0), 0)
  return { clicks: sum('clicks'), leads: sum('leads'), sales: sum('sales'), saleAmount: sum('saleAmount') }
}
