import type { Link } from '@tributary/contract/links'

export const placeholderLinkId = 'link_deleted'
const noLinkId = 'link_none'
const reasons: Record<string, string> = {
  outside_window: 'Not attributed: the click is older than the attribution window.',
}
const never = new Date(0).toISOString()

export type LinkAddress = { id: string; domain: string; key: string; shortLink: string }

/**
 * Stands in for a link whose PostgreSQL row is lost, so that its events stay in lists; has the domain and key if known.
 * Deleted links keep their rows and need no placeholder.
 */
export function placeholderLink(workspaceId: string, url: string, apiUrl: string, address?: LinkAddress): Link {
  const shortLink = address?.shortLink ?? (URL.canParse(url) ? url : apiUrl)
  return {
    id: address?.id ?? placeholderLinkId,
    domain: address?.domain ?? '',
    key: address?.key ?? '',
    url,
    trackConversion: false,
    externalId: null,
    tenantId: null,
    programId: null,
    partnerId: null,
    archived: true,
    expiresAt: '',
    expiredUrl: null,
    disabledAt: '',
    password: null,
    proxy: false,
    title: null,
    description: null,
    image: null,
    video: null,
    rewrite: false,
    doIndex: false,
    ios: null,
    android: null,
    geo: null,
    publicStats: false,
    tags: [],
    folderId: null,
    webhookIds: [],
    comments: null,
    shortLink,
    qrCode: `${apiUrl}/qr?url=${encodeURIComponent(shortLink)}`,
    utm_source: null,
    utm_medium: null,
    utm_campaign: null,
    utm_term: null,
    utm_content: null,
    testStartedAt: '',
    testCompletedAt: '',
    userId: null,
    workspaceId,
    clicks: 0,
    leads: 0,
    conversions: 0,
    sales: 0,
    saleAmount: 0,
    lastClicked: '',
    createdAt: never,
    updatedAt: never,
    tagId: null,
    projectId: workspaceId,
  }
}

/** A placeholder for the link of an unattributed lead or sale; `comments` gives the reason. */
export function noLink(workspaceId: string, attribution: string, apiUrl: string): Link {
  const comments = reasons[attribution] ?? `Not attributed: ${attribution}.`
  return { ...placeholderLink(workspaceId, '', apiUrl), id: noLinkId, comments }
}
