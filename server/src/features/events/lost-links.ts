import type { Link } from '@tributary/contract/links'
import type { Ctx } from '../../platform/context.ts'
import { shortLinkOf } from '../links/service.ts'
import { goneLink, type LinkAddress, noLink } from './feed/gone-link.ts'
import { selectLinkAddresses } from './store.ts'

type Row = { link_number: string; url: string; attribution?: string }

/** What events show instead of links that PostgreSQL does not have: the address that ClickHouse knows of each. */
export async function findLostLinks(ctx: Ctx, rows: Row[], known: ReadonlyMap<string, unknown>) {
  const lost = new Set(rows.map((row) => row.link_number).filter((number) => number !== '0' && !known.has(number)))
  const found = lost.size === 0 ? [] : await selectLinkAddresses(ctx.clickhouse, ctx.workspaceId, [...lost])
  const addresses = new Map(
    found.map(({ link_number, link_id: id, domain, key }): [string, LinkAddress] => {
      return [link_number, { id, domain, key, shortLink: shortLinkOf({ domain, key }) }]
    }),
  )
  return ({ link_number, url, attribution }: Row): Link => {
    if (attribution) return noLink(ctx.workspaceId, attribution, ctx.config.API_URL)
    return goneLink(ctx.workspaceId, url, ctx.config.API_URL, addresses.get(link_number))
  }
}
