import { useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import type { OperationId } from '@tributary/contract/client'
import type { Scope } from '@tributary/contract/permissions'
import { Folder, Globe, Link2, type LucideIcon, Tag, Users } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import { call } from './call.ts'
import { useWorkspace } from './workspace.ts'

/** An object that the palette found, and the path of its page below the workspace. */
export type Found = { id: string; name: string; detail?: string; group: string; path: string; icon: LucideIcon }

const pauseMs = 80
const count = 6

/** Objects whose name has the text: links, customers, domains, folders and tags, as far as the person may read them. */
export function useFound(text: string): { found: Found[]; isSearching: boolean } {
  const { t } = useLingui()
  const { slug, can } = useWorkspace()
  const search = usePaused(text.trim())
  const paging = { search, pageSize: count }
  const sources: { operation: OperationId; scope: Scope; find: () => Promise<Found[]> }[] = [
    {
      operation: 'getLinks',
      scope: 'links.read',
      find: async () =>
        (await call('getLinks', { query: paging }, slug)).map(({ id, domain, key, url }) => ({
          ...{ id, name: `${domain}/${key}`, detail: url, group: t`Links`, path: `/links/${id}`, icon: Link2 },
        })),
    },
    {
      operation: 'getCustomers',
      scope: 'customers.read',
      find: async () =>
        (await call('getCustomers', { query: paging }, slug)).map(({ id, name, email, externalId }) => ({
          ...{ id, name: name || email || externalId, detail: email ?? externalId, icon: Users },
          ...{ group: t`Customers`, path: `/customers/${id}` },
        })),
    },
    {
      operation: 'listDomains',
      scope: 'domains.read',
      find: async () =>
        (await call('listDomains', { query: paging }, slug)).map(({ id, slug: name }) => ({
          ...{ id, name, group: t`Domains`, path: `/domains?search=${encodeURIComponent(name)}`, icon: Globe },
        })),
    },
    {
      operation: 'listFolders',
      scope: 'folders.read',
      find: async () =>
        (await call('listFolders', { query: paging }, slug)).map(({ id, name }) => ({
          ...{ id, name, group: t`Folders`, path: `/links?folder=${encodeURIComponent(id)}`, icon: Folder },
        })),
    },
    {
      operation: 'getTags',
      scope: 'tags.read',
      find: async () =>
        (await call('getTags', { query: paging }, slug)).map(({ id, name }) => ({
          ...{ id, name, group: t`Tags`, path: `/links?tags=${encodeURIComponent(id)}`, icon: Tag },
        })),
    },
  ]
  const answers = useQueries({
    queries: sources
      .filter(({ scope }) => can(scope))
      .map(({ operation, find }) => ({
        queryKey: [slug, operation, 'palette', search],
        queryFn: find,
        enabled: search !== '',
        staleTime: 10_000,
        retry: false,
      })),
  })
  const isSearching = text.trim() !== search || answers.some(({ isFetching }) => isFetching)
  return { found: search === '' ? [] : answers.flatMap(({ data }) => data ?? []), isSearching }
}

/** The text once nobody has typed for a moment, so that fast typing asks the server once. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), text === '' ? 0 : pauseMs)
    return () => clearTimeout(timer)
  }, [text])
  return useDeferredValue(paused)
}
