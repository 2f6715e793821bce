import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { addDomain } from '../../src/features/domains/service.ts'
import { searchableMetadata } from '../../src/features/event-storage/service.ts'
import { createFolder } from '../../src/features/folders/service.ts'
import { createGroup, requireDefaultGroup, requireGroup } from '../../src/features/groups/service.ts'
import { storeChangedPartners } from '../../src/features/partner-attributes/service.ts'
import { createPartnerTag } from '../../src/features/partner-tags/service.ts'
import { addPartner, movePartners, replaceTags } from '../../src/features/partners/service.ts'
import { createProgram } from '../../src/features/programs/service.ts'
import { createTag } from '../../src/features/tags/service.ts'
import { insert } from '../../src/platform/clickhouse.ts'
import type { Platform } from '../../src/platform/context.ts'
import { transaction } from '../../src/platform/postgres.ts'
import { type BuiltWorkspace, buildCustomer, buildLink, buildWorkspace } from '../build.ts'
import { contextIn } from '../context.ts'
import { openRandom, type Random } from '../random.ts'
import { eventually } from '../stack.ts'
import type { ClickFacts, ModelEvent, ModelLink, World } from './model.ts'

export type BuiltWorld = World & { workspace: BuiltWorkspace; metadataDocuments: Record<string, unknown>[] }
export type WorldSize = { clicks: number; leads: number; sales: number; links?: number; customers?: number }

/** A time after clock changes in Europe, America and Australia, in a new month and quarter. */
const worldNow = Date.parse('2025-04-07T13:45:30.500Z')
const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Creates a workspace with random clicks, leads and sales, stored as the pipeline stores them; deterministic by seed. */
export async function buildWorld(platform: Platform, seed: number, size: WorldSize): Promise<BuiltWorld> {
  const random = openRandom(seed)
  const workspace = await buildWorkspace(platform)
  const links = await buildLinks(platform, workspace, random, size.links ?? 24)
  const customerIds: string[] = []
  for (let count = size.customers ?? 40; count > 0; count--) {
    customerIds.push((await buildCustomer(platform, workspace)).id)
  }
  const metadataDocuments = Array.from({ length: 300 }, () => buildMetadata(random))
  const clicks = Array.from({ length: size.clicks }, (_, index) =>
    buildClick(random, links, `${workspace.id} ${index}`),
  )
  const leads = Array.from({ length: size.leads }, (_, index) => {
    return buildConversion(random, clicks, customerIds, metadataDocuments, `evt_l${index}`)
  })
  const sales = Array.from({ length: size.sales }, (_, index) => {
    return buildSale(random, buildConversion(random, clicks, customerIds, metadataDocuments, `evt_s${index}`))
  })
  const events = { clicks: inOrder(clicks), leads: inOrder(leads), sales: inOrder(sales) }
  const world = { now: worldNow, workspace, links, customerIds, metadataDocuments, ...events }
  await storeWorld(platform, world)
  return world
}

async function buildLinks(platform: Platform, workspace: BuiltWorkspace, random: Random, count: number) {
  const ctx = contextIn(platform, workspace.id)
  const second = await addDomain(platform, { workspaceId: workspace.id, slug: `second.${workspace.domain}` })
  const domains = [workspace.domain, workspace.domain, second.slug]
  const tagIds: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) tagIds.push((await createTag(ctx, { name })).id)
  const folderIds: string[] = ['']
  for (const name of ['a', 'b']) folderIds.push((await createFolder(ctx, { name, accessLevel: 'write' })).id)
  const partners = await buildPartners(platform, workspace, random)
  const links: ModelLink[] = []
  for (let index = 0; index < count; index++) {
    const asked = {
      key: `Key-${index}`,
      domain: random.pick(domains),
      externalId: `own, ${index}`,
      tenantId: random.pick(['', 'tenant 1', 'tenant,2', '-3']),
      folderId: random.pick(folderIds),
      tagIds: tagIds.filter(() => random.chance(0.3)),
    }
    const { id } = await buildLink(platform, workspace, {
      ...asked,
      tenantId: asked.tenantId || null,
      folderId: asked.folderId || null,
    })
    const result = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
    const partner = random.pick([none, none, { ...none, partnerId: 'pn_unknown' }, ...partners])
    links.push({ ...asked, ...partner, id, number: String(result.rows[0]?.number), isRoot: random.chance(0.2) })
  }
  return links
}

type ModelPartner = Pick<ModelLink, 'partnerId' | 'groupId' | 'partnerTagIds'>
const none: ModelPartner = { partnerId: '', groupId: '', partnerTagIds: [] }

/** Adds partners, then moves some and changes the tags of some, and waits until ClickHouse has it. */
async function buildPartners(platform: Platform, workspace: BuiltWorkspace, random: Random): Promise<ModelPartner[]> {
  const ctx = contextIn(platform, workspace.id)
  await createProgram(ctx, { name: 'Friends' })
  const groups = [await requireDefaultGroup(ctx)]
  for (const slug of ['gold', 'silver']) {
    const { id } = await createGroup(ctx, { name: slug, slug })
    groups.push(await requireGroup(ctx, id))
  }
  const tagIds: string[] = []
  for (const name of ['a', 'b', 'c']) tagIds.push((await createPartnerTag(ctx, { name })).id)
  const partners: ModelPartner[] = []
  for (let index = 0; index < 6; index++) {
    const [before, after] = [random.pick(groups), random.pick(groups)]
    const row = { group_number: before.number, status: 'approved' as const, name: `Partner ${index}` }
    const partner = await transaction(ctx, (ctx) => addPartner(ctx, { ...row, email: `${index}@example.com` }))
    if (!partner) throw new Error('The partner was not added')
    const chosen = [tagIds, tagIds].map((ids) => ids.filter(() => random.chance(0.4)))
    for (const [group, ids] of [
      [before, chosen[0]],
      [after, chosen[1]],
    ] as const) {
      await transaction(ctx, async (ctx) => {
        await movePartners(ctx, [partner.number], group)
        await replaceTags(ctx, partner.number, ids ?? [])
      })
      await storePartnerChanges(platform, workspace.id)
    }
    partners.push({ partnerId: partner.id, groupId: after.id, partnerTagIds: chosen[1] ?? [] })
  }
  return partners
}

/** Waits until ClickHouse has the groups and tags of the workspace's partners. */
export async function storePartnerChanges(platform: Platform, workspaceId: string): Promise<void> {
  await eventually(async () => {
    await storeChangedPartners(platform)
    const left = await sql`SELECT FROM partner_attribute_changes WHERE workspace_id = ${workspaceId}`.execute(
      platform.db,
    )
    if (left.rows.length > 0) throw new Error('Changes of partners are not in ClickHouse')
  })
}

const locations = [
  ['US', 'US-CA', 'San Francisco', 'NA'],
  ['US', 'US-DC', 'Washington, D.C.', 'NA'],
  ['DE', 'DE-BE', 'Berlin', 'EU'],
  ['FR', 'FR-IDF', "L'Haÿ-les-Roses", 'EU'],
  ['JP', 'JP-13', '東京', 'AS'],
  ['BR', 'BR-SP', '-dash\\, "quoted"', 'SA'],
  ['Unknown', 'Unknown', 'Unknown', 'Unknown'],
] as const
const devices = [
  ['Desktop', 'Chrome', 'Linux'],
  ['Mobile', 'Mobile Safari', 'iOS'],
  ['Desktop', 'Firefox', 'Windows'],
  ['Unknown', 'Unknown', 'Unknown'],
] as const
const referrers = [
  ['(direct)', '(direct)'],
  ['t.co', 'https://t.co/x,y'],
  ['example.org', 'https://www.example.org/a?b=c&d=%2C'],
  ["o'reilly.example", "https://o'reilly.example/\\"],
] as const
const words = ['', '', 'mail', 'mail,news', ' Spring Sale ', "' OR 1=1--", '-minus', 'ünïcode 😀', 'a\\b', '{to:Int64}']
const urls = ['https://example.com/', 'https://example.com/?a=1,2', 'https://example.com/?utm_source=mail']

function buildClick({ pick, chance, below }: Random, links: ModelLink[], name: string): ModelEvent {
  const [country, region, city, continent] = pick([...locations])
  const [device, browser, os] = pick([...devices])
  const [referer, refererUrl] = pick([...referrers])
  const facts: ClickFacts = {
    ...{ country, region, city, continent, device, browser, os, referer, refererUrl },
    trigger: pick(['link', 'link', 'qr', 'pageview']),
    url: pick(urls),
    utm_source: pick(words),
    utm_medium: pick(words),
    utm_campaign: pick(words),
    utm_term: pick(words),
    utm_content: pick(words),
  }
  const id = createHash('sha256').update(name).digest().subarray(0, 30).toString('base64url')
  return {
    ...{ id, clickId: id, facts, link: pick(links), bot: chance(0.1) ? pick(['prefetch', 'agent']) : '' },
    at: chooseMoment({ pick, chance, below }),
    ...{ customerId: '', metadata: null, saleType: '', isRefund: false, amount: 0, sales: 0 },
  }
}

/** Returns a random time: mostly recent, a few over a year ago, some within one second. */
function chooseMoment({ pick, chance, below }: Random): number {
  const old = (340 + below(60)) * dayMs
  const ago = chance(0.03) ? old : below(pick([26 * hourMs, 26 * hourMs, 9 * dayMs, 35 * dayMs, 98 * dayMs]))
  const at = worldNow - ago
  return chance(0.3) ? at - (at % 60_000) : at
}

function buildConversion(
  random: Random,
  clicks: ModelEvent[],
  customerIds: string[],
  documents: Record<string, unknown>[],
  id: string,
): ModelEvent {
  const { pick, chance } = random
  const click = pick(clicks)
  const metadata = chance(0.2) ? null : pick(documents)
  return { ...click, id, bot: '', at: chooseMoment(random), customerId: pick(customerIds), metadata }
}

function buildSale({ below, chance, pick }: Random, event: ModelEvent): ModelEvent {
  const isRefund = chance(0.1)
  const amount = below(1_000_000) * (isRefund ? -1 : 1)
  const sales = isRefund ? pick([0, -1]) : 1
  return { ...event, saleType: pick(['new', 'recurring']), isRefund, amount, sales }
}

/** Returns metadata with values of every JSON type under unusual keys. */
function buildMetadata({ pick, chance, below }: Random): Record<string, unknown> {
  const values = () =>
    pick<unknown>([
      ...[
        'pro',
        'free',
        '',
        'true',
        '5',
        '5.0',
        '007',
        "it's",
        'a "b" \\ c',
        '😀 é',
        'null',
        '2025-01-31',
        '[1]',
        '12e3',
      ],
      ...[0, 5, -5, 0.1, 1e20, -1e19, 2 ** 53, 1e300, 5e-324, below(100), below(1000) / 10, String(below(100))],
      ...[true, false, null, [1, 'pro'], { pro: 'pro' }],
    ])
  const metadata: Record<string, unknown> = {}
  for (const key of ['plan', 'seats', 'a.b', "it's", '"q"', 'ключ', '']) if (chance(0.5)) metadata[key] = values()
  if (chance(0.5)) metadata.a = chance(0.8) ? { b: values(), c: { d: values() } } : values()
  return metadata
}

/** Copies the events in sort order, because neighbours in memory are read twice as fast. */
function inOrder(events: ModelEvent[]): ModelEvent[] {
  return events.toSorted(byMomentAndId).map((event) => ({ ...event, facts: { ...event.facts } }))
}

function byMomentAndId(a: ModelEvent, b: ModelEvent): number {
  return (
    a.at - b.at ||
    Buffer.compare(
      Buffer.from(a.id, a.clickId === a.id ? 'base64url' : 'utf8'),
      Buffer.from(b.id, b.clickId === b.id ? 'base64url' : 'utf8'),
    )
  )
}

async function storeWorld(platform: Platform, world: BuiltWorld): Promise<void> {
  const { workspace, links } = world
  const attributes = links.map((link) => ({
    workspace_id: workspace.id,
    link_number: link.number,
    domain: link.domain,
    is_root: link.isRoot,
    folder_id: link.folderId,
    tenant_id: link.tenantId,
    partner_id: link.partnerId,
    tag_ids: link.tagIds,
    deleted: false,
    // Newer than the versions of the same links that the worker stores.
    version: String(2n ** 63n),
  }))
  await insert(platform.clickhouse, 'link_attributes', attributes as [object, ...object[]])
  await store('click_events', world.clicks, (event) => ({ id_text: event.id }))
  await store('lead_events', world.leads, (event) => ofConversion(event, 'Sign up'))
  await store('sale_events', world.sales, (event) => ({
    ...ofConversion(event, 'Purchase'),
    kind: event.isRefund ? 'refund' : 'sale',
    sales: event.sales,
    amount: String(event.amount),
    currency: 'usd',
    invoice_id: '',
    payment_processor: 'custom',
    sale_type: event.saleType,
  }))

  async function store(table: string, events: ModelEvent[], more: (event: ModelEvent) => object): Promise<void> {
    for (let done = 0; done < events.length; done += 50_000) {
      const rows = events.slice(done, done + 50_000).map((event) => ({ ...shared(event), ...more(event) }))
      await insert(platform.clickhouse, table, rows as unknown as [object, ...object[]])
    }
  }

  function shared({ at, link, bot, facts: { refererUrl, ...facts } }: ModelEvent) {
    return {
      workspace_id: workspace.id,
      timestamp: at,
      link_number: link.number,
      ip: '::',
      bot,
      referer_url: refererUrl,
      ...facts,
    }
  }
}

function ofConversion({ id, customerId, metadata, clickId, at }: ModelEvent, name: string) {
  return {
    ...{ id, event_name: name, customer_id: customerId, click_id_text: clickId, click_timestamp: at },
    metadata: metadata === null ? '' : searchableMetadata(JSON.stringify(metadata)),
  }
}
