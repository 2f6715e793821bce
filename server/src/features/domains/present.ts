import type { Domain } from '@tributary/contract/domains'
import type { DomainRow } from './store.ts'

export function presentDomain(row: DomainRow): Domain {
  return {
    id: row.id,
    slug: row.slug,
    verified: row.verified,
    primary: row.is_primary,
    archived: row.archived,
    placeholder: row.placeholder,
    expiredUrl: row.expired_url,
    notFoundUrl: row.not_found_url,
    logo: row.logo,
    assetLinks: row.asset_links,
    appleAppSiteAssociation: row.apple_app_site_association,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    registeredDomain: null,
  }
}
