import { randomInt, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { listCustomers as customersOperation } from '@tributary/contract/customers'
import { listLinks as linksOperation } from '@tributary/contract/links'
import { newLead, newRefund, newSale } from '@tributary/contract/track'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { buildClick, buildLink, buildWorkspace } from '../../../test/build.ts'
import { contextIn } from '../../../test/context.ts'
import { type Click, type Lead, makeSteps, type Refund, type Sale, type Step } from '../../../test/journeys/steps.ts'
import { openOwnDatabase } from '../../../test/own-database.ts'
import { openRandom } from '../../../test/random.ts'
import { sized } from '../../../test/size.ts'
import { reconcileConversions } from '../../maintenance/conversions.ts'
import { reconcileCustomers } from '../../maintenance/customers.ts'
import { query } from '../../platform/clickhouse.ts'
import { sleep } from '../../platform/clock.ts'
import type { Ctx } from '../../platform/context.ts'
import { AppError } from '../../platform/errors.ts'
import { listCustomers } from '../customers/service.ts'
import { claim, ingest } from '../ingest/service.ts'
import { listLinks } from '../links/list.ts'
import type { RawClick } from '../redirect/messages.ts'
import { monthsOfEvents, rollupDifferences } from '../rollups/service.ts'
import { exportSome } from './export.ts'
import { trackLead } from './leads.ts'
import { trackRefund } from './refunds.ts'
import { trackSale } from './sales.ts'

vi.setConfig({ testTimeout: 400_000 })
const journeyCount = sized({ short: 400, full: 20_000 })
const journeysAtOnce = 20
const journeysPerMessage = 1_000
const dayMs = 24 * 3_600_000
const seed = 20_261_115

const platform = await openOwnDatabase()
const { below, chance, pick } = openRandom(seed)

type Journey = { space: Space; customer: string; steps: Step[]; raw: RawClick[] }
type Totals = { clicks: number; leads: number; conversions: number; sales: number; saleAmount: bigint }
type Space = {
  ctx: Ctx
  links: { id: string; number: bigint; workspaceId: string; url: string }[]
  currency: string
  isFirstClick: boolean
  totals: Totals[]
  bought: Map<string, { sales: number; saleAmount: bigint }>
}

test(`after ${journeyCount} journeys links, customers, event rows and a simple model agree to the cent`, async () => {
  const started = performance.now()
  const spaces = await Promise.all(['usd', 'eur', 'jpy', 'gbp', 'huf', 'usd'].map(buildSpace))
  const journeys = Array.from({ length: journeyCount }, (_, index) => buildJourney(pick(spaces), index))
  for (const journey of journeys) play(journey)
  const made = performance.now()
  let isOver = false
  const exporting = (async () => {
    while (!isOver) {
      await exportSome(platform)
      await sleep(2_000)
    }
  })()
  const log = openLog()
  for (let start = 0; start < journeys.length; start += journeysPerMessage) {
    const some = journeys.slice(start, start + journeysPerMessage)
    const arrive = () => log(some.flatMap(({ raw }) => raw))
    // In every third batch, leads and sales arrive before their clicks.
    const isLate = (start / journeysPerMessage) % 3 === 2
    if (!isLate) await arrive()
    await forEachJourney(some, travel)
    if (isLate) await arrive()
  }
  isOver = true
  await exporting
  const travelled = performance.now()
  await sql`UPDATE conversions SET due_at = now() WHERE stored_at IS NULL`.execute(platform.db)
  while ((await exportSome(platform)) > 0);

  const steps = journeys.flatMap((journey) => journey.steps)
  const counted = ['lead', 'sale', 'refund'].map(
    (kind) => `${steps.filter((step) => step.kind === kind).length} ${kind}s`,
  )
  for (const space of spaces) {
    expect(await totalsOfRows(space)).toEqual(space.totals)
    expect(await totalsOfLinks(space)).toEqual(space.totals)
    expect(await boughtBy(space)).toEqual(space.bought)
    const { workspaceId } = space.ctx
    for await (const { findings } of reconcileConversions(platform, { workspaceId })) expect(findings).toEqual([])
    for await (const { findings } of reconcileCustomers(platform, { workspaceId })) expect(findings).toEqual([])
  }
  const workspaceIds = spaces.map(({ ctx }) => ctx.workspaceId)
  for (const month of await monthsOfEvents(platform, workspaceIds[0]))
    expect(await rollupDifferences(platform, { workspaceIds, month })).toEqual([])
  const seconds = (from: number, to = performance.now()) => `${((to - from) / 1000).toFixed(1)} s`
  console.log(
    `${journeyCount} journeys (seed ${seed}): ${counted.join(', ')}, ${steps.reduce((sum, { times }) => sum + times, 0)} calls;`,
    `made in ${seconds(started, made)}, travelled in ${seconds(made, travelled)}, compared in ${seconds(travelled)}`,
  )
})

// The calls of a journey

async function buildSpace(currency: string, index: number): Promise<Space> {
  const workspace = await buildWorkspace(platform)
  const isFirstClick = index % 2 === 1
  await sql`UPDATE workspaces SET currency = ${currency},
      attribution_model = ${isFirstClick ? 'first-click' : 'last-click'} WHERE id = ${workspace.id}`.execute(
    platform.db,
  )
  const links: Space['links'] = []
  for (let count = 0; count < 5; count++) {
    const { id, url } = await buildLink(platform, workspace, { trackConversion: true })
    const found = await sql<{ number: bigint }>`SELECT number FROM links WHERE id = ${id}`.execute(platform.db)
    links.push({ id, url, number: found.rows[0]?.number as bigint, workspaceId: workspace.id })
  }
  const totals = links.map(() => ({ clicks: 0, leads: 0, conversions: 0, sales: 0, saleAmount: 0n }))
  return { ctx: contextIn(platform, workspace.id), links, currency, isFirstClick, totals, bought: new Map() }
}

function openLog(): (clicks: RawClick[]) => Promise<void> {
  const holder = { partition: randomInt(1_000, 2 ** 31), owner: randomUUID() }
  let sequence = 0
  const claimed = claim(platform, holder)
  return async (body) => {
    await claimed
    sequence = await ingest(platform, holder, sequence, [{ sequence: sequence + 1, body }])
  }
}

async function forEachJourney(journeys: Journey[], work: (journey: Journey) => Promise<void>): Promise<void> {
  const left = journeys.values()
  const walk = async () => {
    for (const journey of left) await work(journey)
  }
  await Promise.all(Array.from({ length: journeysAtOnce }, walk))
}

async function travel(journey: Journey): Promise<void> {
  for (const step of journey.steps) {
    if (step.together) {
      const answers = await Promise.all(Array.from({ length: step.times }, () => call(journey, step, 0)))
      expect(new Set(answers).size).toBe(1)
    } else for (let time = 0; time < step.times; time++) await call(journey, step, time)
  }
}

/** The response as text, or the error status. A repeated invoice may have another amount; the first one counts. */
async function call({ space: { ctx }, customer }: Journey, step: Step, time: number): Promise<string> {
  try {
    return JSON.stringify(await answer())
  } catch (error) {
    if (error instanceof AppError) return String(error.status)
    throw error
  }

  function answer() {
    const clickId = 'click' in step ? (step.click?.id ?? undefined) : undefined
    if (step.kind === 'lead') {
      const { name: eventName, quantity: eventQuantity, isDeferred } = step
      const mode = isDeferred ? 'deferred' : 'async'
      return trackLead(ctx, newLead.parse({ clickId, eventName, eventQuantity, mode, customerExternalId: customer }))
    }
    if (step.kind === 'refund') {
      const { invoice: invoiceId, id: refundId, amount } = step
      return trackRefund(ctx, newRefund.parse({ invoiceId, refundId, amount }))
    }
    const { invoice: invoiceId, leadName: leadEventName, currency } = step
    const amount = step.amount + time
    return trackSale(
      ctx,
      newSale.parse({ clickId, invoiceId, leadEventName, currency, amount, customerExternalId: customer }),
    )
  }
}

// Expected results: a simple model of the attribution rules

type Sold = { amount: bigint; original: bigint; left: bigint; originalLeft: bigint; link: number | null }
type Person = { first: Click | null; leads: Map<string, Click | null>; latest: string; invoices: Map<string, Sold> }

function play({ space, customer, steps }: Journey): void {
  const refunded = new Set<string>()
  let person: Person | undefined
  let hasBought = false

  for (const step of steps) {
    for (let time = 0; time < step.times; time++) {
      if (step.kind === 'lead') lead(step)
      else if (step.kind === 'sale') sale(step, step.together ? 0 : time)
      else refund(step)
    }
  }

  function lead({ name, click, quantity, isDeferred }: Lead): void {
    const chosen = choose(click)
    person ??= { first: click, leads: new Map(), latest: '', invoices: new Map() }
    if (!isDeferred) countLead(person, name, chosen, quantity)
  }

  function countLead(person: Person, name: string, click: Click | null, quantity: number): void {
    if (person.leads.has(name)) return
    person.leads.set(name, click)
    person.latest = name
    if (click) sumTotals(click.link).leads += quantity
  }

  /** The customer's first or the given click, depending on the workspace; none that is over ninety days old. */
  function choose(given: Click | null): Click | null {
    const known = person?.first ?? null
    const order = space.isFirstClick ? [known, given] : [given, known]
    return order.find((click) => click && !click.isOld) ?? null
  }

  function sale(step: Sale, time: number): void {
    if (step.invoice && person?.invoices.has(step.invoice)) return
    if ((!person && !step.click) || step.amount + time === 0) return
    const amount = exchange(BigInt(step.amount + time), step.currency, space.currency)
    if (amount === undefined) return
    const click = person?.leads.size ? (person.leads.get(step.leadName ?? person.latest) ?? null) : choose(step.click)
    person ??= { first: step.click, leads: new Map(), latest: '', invoices: new Map() }
    if (person.leads.size === 0) countLead(person, 'Direct sale', click, 1)
    const original = BigInt(step.amount + time)
    const link = click?.link ?? null
    if (step.invoice)
      person.invoices.set(step.invoice, { amount, original, left: amount, originalLeft: original, link })
    if (link !== null && !hasBought) sumTotals(link).conversions += 1
    hasBought = true
    count(link, 1, amount)
  }

  function refund({ invoice, id, amount }: Refund): void {
    const sold = person?.invoices.get(invoice)
    if (!sold || sold.originalLeft === 0n || (id !== null && refunded.has(id))) return
    const part = amount === null ? sold.originalLeft : BigInt(amount)
    if (part > sold.originalLeft) return
    if (id !== null) refunded.add(id)
    const isAll = part === sold.originalLeft
    const share = nearest(sold.amount * part, sold.original)
    const back = isAll || share > sold.left ? sold.left : share
    sold.left -= back
    sold.originalLeft -= part
    count(sold.link, isAll ? -1 : 0, -back)
  }

  function count(link: number | null, sales: number, amount: bigint): void {
    const bought = space.bought.get(customer) ?? { sales: 0, saleAmount: 0n }
    space.bought.set(customer, { sales: bought.sales + sales, saleAmount: bought.saleAmount + amount })
    if (link === null) return
    sumTotals(link).sales += sales
    sumTotals(link).saleAmount += amount
  }

  function sumTotals(link: number): Totals {
    return space.totals[link] as Totals
  }

  if (person && !space.bought.has(customer)) space.bought.set(customer, { sales: 0, saleAmount: 0n })
}

/** Exchange rates per euro in ten-thousandths of each currency. */
const rates = new Map<string, bigint>(
  Object.entries(
    JSON.parse(readFileSync(new URL('../../../data/exchange-rates.json', import.meta.url), 'utf8')).rates as Record<
      string,
      string
    >,
  ).map(([code, text]) => [code, BigInt(Math.round(Number(text) * 10_000))]),
)

function exchange(amount: bigint, from: string, to: string): bigint | undefined {
  const [one, other] = [rates.get(from), rates.get(to)]
  if (from === to) return amount
  if (one === undefined || other === undefined) return undefined
  const hundred = (code: string) => (['jpy', 'krw', 'isk'].includes(code) ? 1n : 100n)
  return nearest(amount * other * hundred(to), one * hundred(from))
}

/** Divides and rounds half up. */
function nearest(dividend: bigint, divisor: bigint): bigint {
  const rest = dividend % divisor
  return dividend / divisor + (rest * 2n >= divisor ? 1n : 0n)
}

// Actual results: totals read from PostgreSQL and ClickHouse

async function totalsOfRows({ ctx: { workspaceId }, links }: Space): Promise<Totals[]> {
  const rows = await query<Record<'number' | 'clicks' | 'leads' | 'conversions' | 'sales' | 'amount', string>>(
    platform.clickhouse,
    `SELECT toString(link_number) AS number, toString(sum(c)) AS clicks, toString(sum(l)) AS leads,
       toString(sum(n)) AS conversions, toString(sum(s)) AS sales, toString(sum(a)) AS amount
     FROM (
       SELECT link_number, 1 AS c, 0 AS l, 0 AS n, 0 AS s, 0 AS a FROM click_events WHERE workspace_id = {id:String} AND bot = ''
       UNION ALL SELECT link_number, 0, 1, 0, 0, 0 FROM lead_events WHERE workspace_id = {id:String}
       UNION ALL SELECT link_number, 0, 0, kind = 'sale' AND sale_type = 'new', sales, amount FROM sale_events
         WHERE workspace_id = {id:String}
     ) GROUP BY link_number`,
    { id: workspaceId },
  )
  const byNumber = new Map(rows.map((row) => [row.number, row]))
  return links.map(({ number }) => {
    const { clicks, leads, conversions, sales, amount = '0' } = byNumber.get(String(number)) ?? {}
    const counts = { clicks: Number(clicks), leads: Number(leads), conversions: Number(conversions) }
    return { ...counts, sales: Number(sales), saleAmount: BigInt(amount) }
  })
}

async function totalsOfLinks({ ctx, links }: Space): Promise<Totals[]> {
  const listed = await listLinks(ctx, linksOperation.query.parse({}))
  return links.map(({ id }) => {
    const {
      clicks = 0,
      leads = 0,
      conversions = 0,
      sales = 0,
      saleAmount = 0,
    } = listed.find((link) => link.id === id) ?? {}
    return { clicks, leads, conversions, sales, saleAmount: BigInt(saleAmount) }
  })
}

async function boughtBy({ ctx }: Space): Promise<Space['bought']> {
  const bought: Space['bought'] = new Map()
  let startingAfter: string | undefined
  do {
    const page = await listCustomers(ctx, customersOperation.query.parse({ startingAfter, sortOrder: 'asc' }))
    for (const { externalId, sales, saleAmount } of page)
      bought.set(externalId ?? '', { sales: sales ?? 0, saleAmount: BigInt(saleAmount ?? 0) })
    startingAfter = page.at(-1)?.id
  } while (startingAfter)
  return bought
}

function buildJourney(space: Space, index: number): Journey {
  const clicks: Click[] = []
  const raw: RawClick[] = []
  for (let count = 1 + below(3); count > 0; count--) {
    const link = below(space.links.length)
    const isOld = chance(0.05)
    const visitor = { ip: `10.${index >> 8}.${index & 255}.${count}`, at: Date.now() - (isOld ? 100 * dayMs : 0) }
    const click = buildClick(platform, space.links[link] as Space['links'][number], visitor)
    clicks.push({ id: click.id, link, isOld })
    raw.push(click)
    ;(space.totals[link] as Totals).clicks += 1
    if (chance(0.1)) raw.push(click)
    if (chance(0.1)) raw.push({ ...click, bot: 'head' })
  }
  const steps = makeSteps({ below, chance, pick }, clicks, `${index}`)
  return { space, customer: `customer-${index}`, steps, raw }
}
