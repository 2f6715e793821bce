import { useQueryClient } from '@tanstack/react-query'
import type { OperationAnswer } from '@tributary/contract/client'
import { useCallback } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import type { DomainsSearch } from './search.ts'

export type Domain = OperationAnswer<'listDomains'>[number]
export type DomainStatus = OperationAnswer<'getDomainRecords'>
export type DnsRecord = DomainStatus['records'][number]

/** The domains that match, by name. */
export function useDomains({ search, archived }: DomainsSearch) {
  return useOperation('listDomains', { query: domainsQuery(search, archived) })
}

export function domainsQuery(search?: string, archived?: boolean) {
  return {
    sortBy: 'slug' as const,
    pageSize: 100,
    ...(search && { search }),
    ...(archived && { archived: 'true' as const }),
  }
}

/** One domain by its name; null when the workspace has none of that name. */
export function useDomain(slug: string) {
  const { data, ...rest } = useOperation('listDomains', { query: domainsQuery(slug, true) })
  return { ...rest, domain: data && (data.find((domain) => domain.slug === slug) ?? null) }
}

/** How many links each domain has, archived ones included; empty for people who may not read links. */
export function useLinkCounts(): ReadonlyMap<string, number> {
  const { can } = useWorkspace()
  const { data = [] } = useOperation(
    'getLinkGroups',
    { query: { groupBy: 'domain', showArchived: 'true', pageSize: 100 } },
    { enabled: can('links.read') },
  )
  return new Map(data.map(({ domain = '', count }) => [domain, count]))
}

/** Reads again what shows domains. */
export function useReadDomainsAgain(): () => Promise<void> {
  const { slug } = useWorkspace()
  const client = useQueryClient()
  return useCallback(async () => {
    const domains = ['listDomains', 'getDomainRecords', 'recheckDomain', 'getWorkspace']
    const links = ['getLinks', 'getLinksCount', 'getLinkGroups']
    const names = [...domains, ...links]
    await Promise.all(names.map((name) => client.invalidateQueries({ queryKey: [slug, name] })))
  }, [client, slug])
}
