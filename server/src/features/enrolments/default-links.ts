import type { Link, NewLink } from '@tributary/contract/links'
import type { LinkProps } from '@tributary/contract/partners'
import type { Ctx } from '../../platform/context.ts'
import { AppError, badRequest } from '../../platform/errors.ts'
import { randomText } from '../../platform/ids.ts'
import { createFirstCode } from '../discount-codes/service.ts'
import type { Group } from '../groups/service.ts'
import { countPartnerLinks, createLink } from '../links/service.ts'
import type { Partner } from '../partners/service.ts'
import type { ProgramRecord } from '../programs/service.ts'

export type LinkTarget = { domain: string; url: string }

/** Returns where links of partners lead. Throws 400 when the program does not say it. */
export function requireLinkTarget({ domain, url }: ProgramRecord): LinkTarget {
  if (domain && url) return { domain, url }
  throw badRequest(
    'The partner program needs a domain and a URL for the links of partners. Set both with PATCH /programs/{id}.',
  )
}

const keyAttempts = 5
const longestKey = 100

/** Creates the default links of the partner's group, unless the partner has links. Needs a transaction. */
export async function ensureDefaultLinks(ctx: Ctx, partner: Partner, group: Group, target: LinkTarget): Promise<void> {
  if ((await countPartnerLinks(ctx, partner.id)) === 0) await createDefaultLinks(ctx, partner, group, target)
}

/** Creates the default links of a new partner's group, and a discount code. Needs a transaction. */
export async function createDefaultLinks(
  ctx: Ctx,
  partner: Partner,
  group: Group,
  target: LinkTarget,
  props: LinkProps = {},
): Promise<void> {
  const { externalId, prefix, ...shared } = props
  const templates = group.default_links.length > 0 ? group.default_links : [{ url: target.url }]
  const name = deriveKey(partner)
  for (const [index, { url, domain = target.domain }] of templates.entries()) {
    const input = {
      ...shared,
      url,
      domain,
      partnerId: partner.id,
      tenantId: shared.tenantId ?? partner.tenant_id,
      trackConversion: true,
      // Only one link can have the external id.
      ...(index === 0 && externalId && { externalId }),
    }
    const link = await createWithKey(ctx, input, { prefix, name, hasSuffix: index > 0 })
    if (index === 0) await createFirstCode(ctx, partner, link.id)
  }
}

/** Creates a link with this key, or the key and a random suffix when it is taken. */
async function createWithKey(
  ctx: Ctx,
  input: NewLink,
  { prefix = '', name, hasSuffix }: { prefix?: string; name: string; hasSuffix: boolean },
): Promise<Link> {
  if (name === '') return createLink(ctx, { ...input, ...(prefix && { prefix }) })
  for (let attempt = hasSuffix ? 1 : 0; ; attempt++) {
    const key = attempt === 0 ? name : `${name}-${randomText(4).toLowerCase()}`
    try {
      return await createLink(ctx, { ...input, key: prefix + key })
    } catch (error) {
      const isTaken = error instanceof AppError && error.code === 'conflict'
      if (!isTaken || attempt === keyAttempts) throw error
    }
  }
}

/** The key of a partner's links, from the username, the name or the e-mail address; empty when none has a letter. */
function deriveKey({ username, name, email }: Pick<Partner, 'username' | 'name' | 'email'>): string {
  const candidates = [username, name === email ? null : name, email?.split('@')[0]]
  return candidates.map((text) => slugify(text ?? '')).find((key) => key !== '') ?? ''
}

function slugify(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longestKey)
    .replaceAll(/^-+|-+$/g, '')
}
