import { connect } from 'node:net'
import { type ExportQuery, exportColumns } from '@tributary/contract/events'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type BuiltWorkspace, buildCustomer, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { clickRow, leadRow, saleRow, storeEvents } from '../../../test/events/feed-rows.ts'
import { startServer } from '../../../test/server-process.ts'
import { eventually, openTestPlatform } from '../../../test/stack.ts'
import { linkNumbers } from '../links/service.ts'

const platform = await openTestPlatform()
const { api } = inject('server')
let workspace: BuiltWorkspace
let owner: { workspaceId: string; linkNumber: bigint }
let link: Awaited<ReturnType<typeof buildLink>>

async function buildOwner({ id }: { id: string }, linkId: string) {
  const [linkNumber] = await linkNumbers(contextIn(platform, id), { ids: [linkId] })
  return { workspaceId: id, linkNumber: linkNumber as bigint }
}

beforeAll(async () => {
  workspace = await buildWorkspace(platform)
  link = await buildLink(platform, workspace, { externalId: 'mine' })
  owner = await buildOwner(workspace, link.id)
})

function download(query: string, key = workspace.key, from = api): Promise<Response> {
  return fetch(`${from}/events/export?${query}`, { headers: { authorization: `Bearer ${key}` } })
}

const splitLines = (text: string) => text.split('\r\n').slice(0, -1)
const records = async (response: Response) => {
  const text = await response.text()
  return text === ''
    ? []
    : text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe('the content of an export', () => {
  test('an export has a file name, and the columns of its kind of event', async () => {
    const customer = await buildCustomer(platform, workspace, {
      externalId: 'ada',
      name: 'Ada',
      email: 'a@example.com',
    })
    const click = clickRow(owner, { utm_source: 'news', city: 'Köln, "Dom"' })
    const about = { customer_id: customer.id, metadata: '{"plan":"pro"}' }
    const [lead, sale] = [leadRow(owner, about), saleRow(owner, about)]
    await storeEvents(platform, { clicks: [click], leads: [lead], sales: [sale] })
    for (const kind of ['clicks', 'leads', 'sales'] as const) {
      const csv = await download(`event=${kind}`)
      expect(csv.status).toBe(200)
      expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present')
      const name = new RegExp(`^attachment; filename="${kind}-\\d{4}-\\d\\d-\\d\\d\\.csv"$`)
      expect(csv.headers.get('content-disposition')).toMatch(name)
      const [header, ...lines] = splitLines(await csv.text())
      expect(header).toBe(exportColumns[kind].join(','))
      expect(lines).toHaveLength(1)
      const [record, ...others] = await records(await download(`event=${kind}&format=ndjson`))
      expect(others).toEqual([])
      expect(Object.keys(record ?? {})).toEqual(exportColumns[kind])
      expect(record).toMatchObject({ linkId: link.id, externalId: 'mine', shortLink: link.shortLink, ip: '10.0.0.1' })
    }
    const [first] = await records(await download('format=ndjson'))
    expect(first).toMatchObject({
      event: 'click',
      clickId: click.id_text,
      utm_source: 'news',
      qr: false,
      refererUrl: '(direct)',
    })
    expect(await (await download('')).text()).toContain(',"Köln, ""Dom""",')
    const [sold] = await records(await download('event=sales&format=ndjson'))
    expect(sold).toMatchObject({
      event: 'sale',
      eventId: sale.id,
      clickId: sale.click_id_text,
      customerId: customer.id,
      customerExternalId: 'ada',
      customerName: 'Ada',
      customerEmail: 'a@example.com',
      metadata: { plan: 'pro' },
      amount: 1000,
      currency: 'usd',
      invoiceId: 'in_1',
      paymentProcessor: 'stripe',
    })
    expect(Object.values(sold ?? {})).not.toContain(undefined)
  })

  test('an export has no cell that a spreadsheet would run as a formula', async () => {
    const own = await buildWorkspace(platform)
    const there = await buildOwner(own, (await buildLink(platform, own)).id)
    const evil = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '=HYPERLINK("https://example.com","x")']
    await storeEvents(platform, { clicks: evil.map((city) => clickRow(there, { city, referer: city })) })
    const text = await (await download('', own.key)).text()
    for (const cell of text.split(/,|\r\n/)) expect(cell).not.toMatch(/^"?[=+\-@\t]/)
    const cities = (await records(await download('format=ndjson', own.key))).map(({ city }) => city)
    expect(cities.sort()).toEqual(evil.sort())
  })

  test('an export has events of deleted links and customers, and only a header without events', async () => {
    const own = await buildWorkspace(platform)
    expect(splitLines(await (await download('', own.key)).text())).toEqual([exportColumns.clicks.join(',')])
    expect(await (await download('format=ndjson', own.key)).text()).toBe('')
    await storeEvents(platform, { leads: [leadRow({ workspaceId: own.id, linkNumber: 4_000_000_001n })] })
    const [lead] = await records(await download('event=leads&format=ndjson', own.key))
    expect(lead).toMatchObject({ linkId: 'link_deleted', domain: '', customerName: 'Deleted customer' })
  })
})

test('200,000 events are exported once each and in order, in constant memory', async () => {
  const own = await buildWorkspace(platform)
  const there = await buildOwner(own, (await buildLink(platform, own)).id)
  const server = await startServer({ ...inject('environment'), ROLES: 'api' })
  try {
    const rows = 200_000
    await generate(there, rows)
    const before = await residentMegabytes(server.ops)
    for (const [query, expected] of [
      ['sortOrder=asc', rows],
      ['format=ndjson&country=FR', rows / 4],
    ] as const satisfies [string, number][]) {
      const { count, isOrdered } = await countLines(await download(`interval=all&${query}`, own.key, server.api), query)
      expect({ count, isOrdered }).toEqual({ count: expected, isOrdered: true })
    }
    expect((await residentMegabytes(server.ops)) - before).toBeLessThan(300)
  } finally {
    await server.stop()
  }
}, 240_000)

async function generate({ workspaceId, linkNumber }: typeof owner, rows: number): Promise<void> {
  await platform.clickhouse.command({
    query: `INSERT INTO click_events (workspace_id, timestamp, id, link_number, url, trigger, country, city)
      SELECT {workspaceId:String}, fromUnixTimestamp64Milli(toInt64(1700000000000 + intDiv(number, 7)), 'UTC'),
        toFixedString(concat(hex(cityHash64(number)), hex(number)), 30), {linkNumber:UInt64}, 'https://example.com/', 'link',
        ['FR', 'DE', 'US', 'JP'][number % 4 + 1], 'Rome'
      FROM numbers({rows:UInt32})`,
    query_params: { workspaceId, linkNumber, rows },
  })
}

/** Counts the lines of an export without the header, and checks their order and unique ids. */
async function countLines(response: Response, query: string) {
  const [at, id] = ['timestamp', 'clickId'].map((column) => exportColumns.clicks.indexOf(column)) as [number, number]
  const isJson = query.includes('ndjson')
  const ascending = query.includes('asc')
  const ids = new Set<string>()
  let [count, isOrdered, last, open] = [0, true, ascending ? '' : '~', '']
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (open + chunk).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) {
      const cells = isJson ? Object.values(JSON.parse(line) as Record<string, string>) : line.split(',')
      const [moment = '', key = ''] = [cells[at], cells[id]]
      if (moment === 'timestamp') continue
      isOrdered &&= ascending ? moment >= last : moment <= last
      last = moment
      ids.add(key)
      count += 1
    }
  }
  expect(ids.size).toBe(count)
  return { count, isOrdered }
}

async function residentMegabytes(ops: string): Promise<number> {
  const text = await (await fetch(`${ops}/metrics`)).text()
  return Number(/^tributary_process_resident_memory_bytes\{role="api".* (\S+)$/m.exec(text)?.[1]) / 1e6
}

describe('errors and limits of an export', () => {
  const ask = async (query: string, key?: string) => {
    const response = await download(query, key)
    if (response.status === 200) await response.body?.cancel()
    return response.status === 200 ? '200' : `${response.status} ${JSON.stringify(await response.json())}`
  }

  test('a wrong plan, format, period or link gets an error object', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'pro' })
    expect(await ask('', key)).toMatch(/^403 .*needs the business plan/)
    for (const kind of ['clicks', 'leads', 'sales'])
      for (const format of ['csv', 'ndjson'])
        expect(await ask(`event=${kind}&format=${format}&query=-9`)).toMatch(
          /^422 .*`query` in the query has a syntax error/,
        )
    expect(await ask('format=xls')).toMatch(/^422 .*`format` in the query must be one of/)
    expect(await ask('start=nonsense')).toMatch(/^422 .*`start` in the query/)
    expect(await ask('externalId=ext_none')).toMatch(/^404 /)
  })

  test('the business plan allows six exports per minute, counted apart from other requests', async () => {
    const { key } = await buildWorkspace(platform, { plan: 'business' })
    for (let turn = 1; turn <= 6; turn++) expect(await ask('', key)).toBe('200')
    expect(await ask('', key)).toMatch(/^429 .*The business plan allows 6 requests per minute here/)
    const listed = await fetch(`${api}/events`, { headers: { authorization: `Bearer ${key}` } })
    expect(listed.status).toBe(200)
  })
})

test('a client that stops reading an export is disconnected, and its query and connection are released', async () => {
  const own = await buildWorkspace(platform)
  const there = await buildOwner(own, (await buildLink(platform, own)).id)
  await generate(there, 100_000)
  const server = await startServer({
    ...inject('environment'),
    ROLES: 'api',
    STREAM_STALL_MS: '700',
    LOG_LEVEL: 'info',
  })
  try {
    const { port } = new URL(server.api)
    const socket = connect(Number(port), '127.0.0.1')
    const query: Partial<ExportQuery> = { format: 'ndjson', interval: 'all' }
    const path = `/events/export?${new URLSearchParams(query as Record<string, string>)}`
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${own.key}\r\n\r\n`)
    socket.pause()
    socket.on('error', () => {})
    const open = async () =>
      (await (await fetch(`${server.ops}/metrics`)).text()).match(/^tributary_open_streams\{.*/m)?.[0]
    await eventually(async () => expect(server.log.join('\n')).toContain('slow reader disconnected'), 20_000)
    await eventually(async () => expect(await open()).toMatch(/ 0$/))
    socket.destroy()
  } finally {
    await server.stop()
  }
})
