import type { Link } from '@tributary/contract/links'
import type { NewPartnerLink } from '@tributary/contract/partner-links'
import type { PartnerLink } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { badRequest } from '../../platform/errors.ts'
import { transaction } from '../../platform/postgres.ts'
import { type Group, groupsByNumber } from '../groups/service.ts'
import { countPartnerLinks, createLink, partnerLinks, upsertPartnerLink } from '../links/service.ts'
import { type PartnerName, requirePartner } from '../partners/service.ts'
import { requireProgram } from '../programs/service.ts'
import { type LinkTarget, requireLinkTarget } from './default-links.ts'

const mostLinks = { links: 1_000, urlBytes: 8_000_000 }

export async function listPartnerLinks(ctx: Ctx, name: PartnerName): Promise<PartnerLink[]> {
  await requireProgram(ctx)
  const { id } = await requirePartner(ctx, name)
  return (await partnerLinks(ctx, [id], mostLinks)).get(id) ?? []
}

export async function createPartnerLink(ctx: Ctx, input: NewPartnerLink): Promise<Link> {
  const { link, group } = await resolveLink(ctx, input)
  // The program may create more links than its partners may.
  if (ctx.actor.kind !== 'partner' && ctx.actor.kind !== 'embed') return createLink(ctx, link)
  return transaction(ctx, async (ctx) => {
    const most = group.max_partner_links
    if ((await countPartnerLinks(ctx, link.partnerId)) >= most)
      throw badRequest(`This partner has ${most} links, as many as its group allows. Delete one first.`)
    return createLink(ctx, link)
  })
}

export async function putPartnerLink(ctx: Ctx, input: NewPartnerLink & { url: string }): Promise<Link> {
  const { link } = await resolveLink(ctx, input)
  return upsertPartnerLink(ctx, link)
}

async function resolveLink(ctx: Ctx, { partnerId, tenantId, url, key, comments, linkProps }: NewPartnerLink) {
  const target = requireLinkTarget(await requireProgram(ctx))
  const partner = await requirePartner(ctx, { partnerId, tenantId })
  if (partner.status === 'banned' || partner.status === 'deactivated')
    throw badRequest(`The partner ${partner.id} is ${partner.status}, and can have no new links.`)
  const group = (await groupsByNumber(ctx, [partner.group_number])).get(partner.group_number)
  if (!group) throw new Error(`The partner ${partner.id} has no group`)
  const destination = url || target.url
  requireAllowed(destination, group, target)
  const link = {
    ...linkProps,
    url: destination,
    domain: target.domain,
    partnerId: partner.id,
    tenantId: linkProps?.tenantId ?? partner.tenant_id,
    trackConversion: true,
    ...(key !== undefined && { key }),
    ...(comments !== undefined && { comments }),
  }
  return { link, group }
}

/** Throws 400 unless the group lets links of its partners lead to this page. */
function requireAllowed(destination: string, group: Group, target: LinkTarget): void {
  const url = URL.parse(destination)
  // createLink refuses malformed URLs with its own message.
  if (!url) return
  const own = [target.url, ...group.default_links.map((link) => link.url)].map((text) => URL.parse(text)?.host)
  const isAllowed = group.additional_links.some(({ domain, validationMode, path = '' }) => {
    if (domain !== url.host) return false
    return validationMode === 'domain' || withSlash(path) === url.pathname + url.search
  })
  if (own.includes(url.host) || isAllowed) return
  throw badRequest(
    `\`url\` in the body leads to ${url.host}, which the group ${group.name} does not allow. Add it to the group's \`additionalLinks\`.`,
  )
}

function withSlash(path: string): string {
  return path.startsWith('/') ? path : `/${path}`
}
