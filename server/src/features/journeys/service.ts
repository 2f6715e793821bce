import type { Journey, JourneyQuery } from '@tributary/contract/journeys'
import { type Ctx, hasScope } from '../../platform/context.ts'
import { commissionsOfConversions } from '../commissions/service.ts'
import { requireCustomer } from '../customers/service.ts'
import { hiddenLinkNumbers, linksByNumber } from '../links/service.ts'
import { findPartnersById } from '../partners/service.ts'
import { type Conversion, customerClicks, customerJourney, customerValue, type JourneyClick } from '../track/service.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { type Known, presentClickEvent, presentConversion, presentTouch } from './present.ts'
import { mergePage, type Position, runningValues } from './timeline.ts'

type ClickItem = { position: Position; click: JourneyClick }
type ConversionItem = { position: Position; row: Conversion; value: bigint }

/** A page of a customer's clicks, leads, sales and refunds; `next` is the cursor of the next page. */
export async function getJourney(
  ctx: Ctx,
  name: string,
  query: JourneyQuery,
): Promise<{ journey: Journey; next?: string }> {
  const customer = await requireCustomer(ctx, name)
  const ascending = query.sortOrder === 'asc'
  const after = query.cursor === undefined ? undefined : readCursor(ctx, customer.id, query.cursor, ascending)
  const clicks = hasScope(ctx.actor, 'analytics.read')
    ? await readableClicks(ctx, await customerClicks(ctx, customer))
    : []
  const page = { ascending, after, count: query.pageSize }
  const { items, isCut } = mergePage(toItems(clicks), await readConversions(ctx, customer.id, page), page)
  const shown = await withoutHidden(ctx, items)
  const [first, last] = [clicks[0], clicks.at(-1)]
  const known = await loadKnown(ctx, shown, [first, last])
  const journey = {
    customerId: customer.id,
    firstTouch: first ? presentTouch(first, known) : null,
    lastTouch: last ? presentTouch(last, known) : null,
    events: shown.map((item) =>
      'click' in item ? presentClickEvent(item.click, known) : presentConversion(item.row, item.value, known),
    ),
  }
  const position = isCut ? items.at(-1)?.position : undefined
  return { journey, ...(position && { next: writeCursor(ctx, customer.id, { position, ascending }) }) }
}

async function readableClicks(ctx: Ctx, clicks: JourneyClick[]): Promise<JourneyClick[]> {
  const numbers = clicks.flatMap(({ linkNumber }) => linkNumber ?? [])
  const hidden = await hiddenLinkNumbers(ctx, [...new Set(numbers)])
  return clicks.filter(({ linkNumber }) => linkNumber === null || !hidden.has(linkNumber))
}

function toItems(clicks: JourneyClick[]): ClickItem[] {
  return clicks.map((click) => ({ position: { at: click.at, number: -1n, id: click.id }, click }))
}

/** The leads, sales and refunds that a page may have, and one more, with the customer's value after each. */
async function readConversions(
  ctx: Ctx,
  customerId: string,
  { ascending, after, count }: { ascending: boolean; after?: Position; count: number },
): Promise<ConversionItem[]> {
  const position = after && (after.number < 0n ? { at: new Date(after.at) } : { number: after.number })
  const rows = await customerJourney(ctx, customerId, { ascending, after: position, count: count + 1 })
  const [first] = rows
  if (!first) return []
  const value = await customerValue(ctx, customerId, first.number)
  const amounts = rows.map(({ amount }) => amount)
  const values = runningValues(amounts, value, ascending)
  return rows.map((row, index) => {
    const position = { at: row.created_at.getTime(), number: row.number, id: '' }
    return { position, row, value: values[index] ?? 0n }
  })
}

/** Removes events of links in folders that the caller may not read; they still count in the value. */
async function withoutHidden<Item extends ClickItem | ConversionItem>(ctx: Ctx, items: Item[]): Promise<Item[]> {
  const numbers = items.flatMap((item) => ('row' in item ? (item.row.link_number ?? []) : []))
  const hidden = await hiddenLinkNumbers(ctx, [...new Set(numbers)])
  return items.filter((item) => !('row' in item) || item.row.link_number === null || !hidden.has(item.row.link_number))
}

async function loadKnown(
  ctx: Ctx,
  items: (ClickItem | ConversionItem)[],
  touches: (JourneyClick | undefined)[],
): Promise<Known> {
  const numbers = [
    ...items.flatMap((item) => ('row' in item ? item.row.link_number : item.click.linkNumber) ?? []),
    ...touches.flatMap((click) => click?.linkNumber ?? []),
  ]
  const rows = items.flatMap((item) => ('row' in item ? item.row : []))
  const [links, partners, commissions] = await Promise.all([
    numbers.length === 0 ? new Map() : linksByNumber(ctx, [...new Set(numbers)]),
    findPartnersById(ctx, [...new Set(rows.flatMap(({ partner_id }) => partner_id ?? []))]),
    hasScope(ctx.actor, 'commissions.read')
      ? commissionsOfConversions(
          ctx,
          rows.map(({ number }) => number),
        )
      : undefined,
  ])
  return { links, partners, commissions }
}
