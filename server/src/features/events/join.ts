import type { TrackedEvent } from '@tributary/contract/events'
import type { Link } from '@tributary/contract/links'
import { estimateBytes } from '../../platform/byte-cache.ts'
import type { Ctx } from '../../platform/context.ts'
import { invalid } from '../../platform/errors.ts'
import { customersById, presentCustomerTo } from '../customers/service.ts'
import { linkAddresses } from '../event-storage/service.ts'
import { formatShortLink, hiddenLinkNumbers, linksByNumber } from '../links/service.ts'
import { type LinkAddress, noLink, placeholderLink } from './placeholder-link.ts'
import { presentClick, presentLead, presentSale } from './present.ts'
import type { ClickRow, EventPosition, LeadRow, SaleRow } from './store.ts'

type Row = { link_number: string; url: string; attribution?: string }

export type EventRow = ClickRow | LeadRow | SaleRow

const firstLinksAtOnce = 20
const linksAtOnce = 200
const partMaxBytes = 262_144

/**
 * Loads the link of each event row. A link that PostgreSQL lost gets its domain and key from ClickHouse. Throws when
 * the links exceed `maxBytes` in total.
 */
export async function loadLinks(ctx: Ctx, rows: Row[], maxBytes = Infinity): Promise<(row: Row) => Link> {
  const links = await readLinks(ctx, [...new Set(rows.map((row) => row.link_number))], maxBytes)
  const lost = new Set(rows.map((row) => row.link_number).filter((number) => number !== '0' && !links.has(number)))
  const found = lost.size === 0 ? [] : await linkAddresses(ctx, [...lost])
  const addresses = new Map(
    found.map(({ link_number, link_id: id, domain, key }): [string, LinkAddress] => {
      return [link_number, { id, domain, key, shortLink: formatShortLink({ domain, key }) }]
    }),
  )
  return ({ link_number, url, attribution }) => {
    const link = links.get(link_number)
    if (link) return link
    if (attribution) return noLink(ctx.workspaceId, attribution, ctx.config.API_URL)
    return placeholderLink(ctx.workspaceId, url, ctx.config.API_URL, addresses.get(link_number))
  }
}

async function readLinks(ctx: Ctx, numbers: string[], maxBytes: number): Promise<Map<string, Link>> {
  const links = new Map<string, Link>()
  let bytes = 0
  // Read few links first: when they are large (up to 60 kB each), larger batches would block other requests.
  let count = firstLinksAtOnce
  for (let start = 0; start < numbers.length; ) {
    const part = await linksByNumber(ctx, numbers.slice(start, start + count).map(BigInt))
    let partBytes = 0
    for (const [number, link] of part) {
      links.set(String(number), { ...link, password: null })
      partBytes += estimateBytes(link)
    }
    bytes += partBytes
    start += count
    count = partBytes > partMaxBytes ? count : linksAtOnce
    if (bytes <= maxBytes) continue
    throw invalid(
      `The ${numbers.length} links of this page have more than ${maxBytes / 2 ** 20} MB. Lower \`limit\` in the query.`,
    )
  }
  return links
}

/** Removes events of links that moved into a hidden folder a moment ago, which ClickHouse does not know yet. */
export async function withoutHidden<R extends Row>(ctx: Ctx, rows: R[]): Promise<R[]> {
  const hidden = await hiddenLinkNumbers(
    ctx,
    rows.map((row) => BigInt(row.link_number)),
  )
  return hidden.size === 0 ? rows : rows.filter((row) => !hidden.has(BigInt(row.link_number)))
}

/** Builds the API's events from rows, with link and customer. Throws when the links exceed `maxBytes` in total. */
export async function presentRows(ctx: Ctx, rows: EventRow[], maxBytes = Infinity): Promise<TrackedEvent[]> {
  const ids = rows.flatMap((row) => ('customer_id' in row ? row.customer_id : []))
  const [findLink, customers] = await Promise.all([loadLinks(ctx, rows, maxBytes), customersById(ctx, ids)])
  return rows.map((row) => {
    const link = findLink(row)
    if (!('customer_id' in row)) return presentClick(row, link)
    const customer = presentCustomerTo(ctx, customers.get(row.customer_id), row.customer_id)
    return 'amount' in row ? presentSale(row, link, customer) : presentLead(row, link, customer)
  })
}

/** The list position of the last row, from which the next page continues. */
export function lastPosition(rows: EventRow[]): EventPosition | undefined {
  const row = rows.at(-1)
  return row && { at: Date.parse(row.timestamp), id: 'id_text' in row ? row.id_text : row.id }
}
