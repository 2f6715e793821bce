import { boundedSum } from '@tributary/contract/common'
import type { Link } from '@tributary/contract/links'
import type { Tag } from '@tributary/contract/tags'
import type { TrackedLink } from '@tributary/contract/track'
import type { Ctx } from '../../platform/context.ts'
import { unseal } from '../../platform/seal.ts'
import { entityTag } from '../../platform/validation.ts'
import { knownFolderIds } from '../folders/service.ts'
import { tagsByIds } from '../tags/service.ts'
import { knownWebhookIds } from '../webhooks/service.ts'
import { rootKey } from './key.ts'
import type { LinkRow } from './store.ts'

export async function presentAll(ctx: Ctx, rows: LinkRow[]): Promise<Link[]> {
  const tags = await tagsByIds(ctx, [...new Set(rows.flatMap((row) => row.tag_ids))])
  const folders = await knownFolderIds(ctx, [...new Set(rows.flatMap((row) => row.folder_id ?? []))])
  const webhooks = await knownWebhookIds(ctx, [...new Set(rows.flatMap((row) => row.webhook_ids))])
  return rows.map((row) =>
    presentLink(row, {
      apiUrl: ctx.config.API_URL,
      tags: row.tag_ids.flatMap((id) => tags.get(id) ?? []),
      folderId: row.folder_id !== null && folders.has(row.folder_id) ? row.folder_id : null,
      webhookIds: row.webhook_ids.filter((id) => webhooks.has(id)),
      password: row.sealed_password && unseal(ctx.config.ENCRYPTION_KEYS, row.id, row.sealed_password),
    }),
  )
}

const counters = ['clicks', 'leads', 'conversions', 'sales', 'saleAmount', 'lastClicked'] as const

/** The entity tag of a link's settings; its counters change by themselves. */
export function linkTag(link: Link): string {
  return entityTag(link, counters)
}

/** Builds the API's link from its row, with exactly the contract's keys. */
export function presentLink(
  row: LinkRow,
  given: Pick<Link, 'folderId' | 'webhookIds' | 'password'> & { apiUrl: string; tags: Tag[] },
): Link {
  const shortLink = buildShortLink(row)
  return {
    id: row.id,
    domain: row.domain,
    key: row.key,
    url: row.url,
    trackConversion: row.track_conversion,
    externalId: row.external_id,
    tenantId: row.tenant_id,
    programId: row.program_id,
    partnerId: row.partner_id,
    archived: row.archived,
    expiresAt: row.expires_at?.toISOString() ?? '',
    expiredUrl: row.expired_url,
    disabledAt: row.disabled_at?.toISOString() ?? '',
    password: given.password,
    proxy: row.proxy,
    title: row.title,
    description: row.description,
    image: row.image,
    video: row.video,
    rewrite: row.rewrite,
    doIndex: row.do_index,
    ios: row.ios,
    android: row.android,
    geo: row.geo,
    publicStats: row.public_stats,
    tags: given.tags,
    folderId: given.folderId,
    webhookIds: given.webhookIds,
    comments: row.comments,
    shortLink,
    qrCode: `${given.apiUrl}/qr?url=${encodeURIComponent(shortLink)}`,
    utm_source: row.utm_source,
    utm_medium: row.utm_medium,
    utm_campaign: row.utm_campaign,
    utm_term: row.utm_term,
    utm_content: row.utm_content,
    ...(row.test_variants && { testVariants: row.test_variants }),
    testStartedAt: row.test_started_at?.toISOString() ?? '',
    testCompletedAt: row.test_completed_at?.toISOString() ?? '',
    userId: row.user_id,
    workspaceId: row.workspace_id,
    clicks: Number(row.clicks),
    leads: Number(row.leads),
    conversions: Number(row.conversions),
    sales: Number(row.sales),
    saleAmount: boundedSum(row.sale_amount),
    lastClicked: row.last_clicked?.toISOString() ?? '',
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    tagId: given.tags[0]?.id ?? null,
    projectId: row.workspace_id,
  }
}

/** A link as the redirect role reads it, as plain JSON; times are in milliseconds. */
export type RedirectView = {
  number: string
  id: string
  workspaceId: string
  key: string
  url: string
  trackConversion: boolean
  expiresAt: number | null
  expiredUrl: string | null
  disabledAt: number | null
  bannedAt: number | null
  /** The encrypted password in base64 (platform/seal.ts; the purpose is the link's id). */
  sealedPassword: string | null
  proxy: boolean
  title: string | null
  description: string | null
  image: string | null
  video: string | null
  rewrite: boolean
  doIndex: boolean
  ios: string | null
  android: string | null
  geo: Record<string, string> | null
  testVariants: { url: string; percentage: number }[] | null
  testStartedAt: number | null
  testCompletedAt: number | null
}

export function redirectView(row: LinkRow): RedirectView {
  return {
    number: String(row.number),
    id: row.id,
    workspaceId: row.workspace_id,
    key: row.key,
    url: new URL(row.url).href,
    trackConversion: row.track_conversion,
    expiresAt: row.expires_at?.getTime() ?? null,
    expiredUrl: row.expired_url,
    disabledAt: row.disabled_at?.getTime() ?? null,
    bannedAt: row.banned_at?.getTime() ?? null,
    sealedPassword: row.sealed_password?.toString('base64') ?? null,
    proxy: row.proxy,
    title: row.title,
    description: row.description,
    image: row.image,
    video: row.video,
    rewrite: row.rewrite,
    doIndex: row.do_index,
    ios: row.ios,
    android: row.android,
    geo: row.geo,
    testVariants: row.test_variants ?? null,
    testStartedAt: row.test_started_at?.getTime() ?? null,
    testCompletedAt: row.test_completed_at?.getTime() ?? null,
  }
}

export function trackedLink(row: LinkRow): TrackedLink {
  return {
    id: row.id,
    domain: row.domain,
    key: row.key,
    shortLink: buildShortLink(row),
    url: row.url,
    partnerId: row.partner_id,
    programId: row.program_id,
    tenantId: row.tenant_id,
    externalId: row.external_id,
  }
}

export function buildShortLink({ domain, key }: Pick<LinkRow, 'domain' | 'key'>): string {
  return `https://${domain}${key === rootKey ? '' : `/${encodeURI(key)}`}`
}
