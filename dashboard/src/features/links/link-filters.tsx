import { useLingui } from '@lingui/react/macro'
import { lazy, useMemo } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useDayNames } from '../../ui/day-names.ts'
import type { Filter } from '../../ui/filter.ts'
import { type ChangeSearch, type FilterName, stateNames } from './filter-names.ts'
import type { LinksSearch } from './search.ts'

const FilterOptions = lazy(async () => ({ default: (await import('./filter-options.tsx')).FilterOptions }))

/** The filters of the page. Their options load when they are opened. */
export function useLinkFilters(search: LinksSearch, change: ChangeSearch): Filter[] {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const chosen = useChosenNames(search)
  const state = search.state ?? (search.archived && 'all')
  const filter = (id: FilterName, name: string, chosen: readonly string[]): Filter => ({
    id,
    name,
    chosen,
    clear: () => change({ [id]: undefined, ...(id === 'state' && { archived: undefined }) }),
    content: (onDone) => <FilterOptions filter={id} search={search} change={change} onDone={onDone} />,
  })
  return [
    filter('tags', t`Tag`, chosen.tags),
    filter('folder', t`Folder`, chosen.folder),
    filter('domain', t`Domain`, search.domain ? [search.domain] : []),
    filter('state', t`State`, state ? [t(stateNames[state])] : []),
    filter('created', t`Created`, chosen.created),
    ...(can('workspaces.read') ? [filter('creator', t`Creator`, chosen.creator)] : []),
    ...(can('partners.read') ? [filter('partner', t`Partner`, chosen.partner)] : []),
  ]
}

/** The names of what the address has as ids; the ids until the names are loaded. */
function useChosenNames({ tags, folder, creator, partner, created }: LinksSearch) {
  const { t } = useLingui()
  const tagIds = tags?.split(',') ?? []
  const { data: foundTags } = useOperation('getTags', { query: { ids: tags ?? '' } }, { enabled: tags !== undefined })
  const folders = useFolders(folder !== undefined)
  const { data: member } = useOperation(
    'getMember',
    { params: { userId: creator ?? '' } },
    { enabled: creator !== undefined },
  )
  const { data: found } = useOperation(
    'getPartner',
    { params: { id: partner ?? '' } },
    { enabled: partner !== undefined },
  )
  return {
    tags: tagIds.map((id) => foundTags?.find((tag) => tag.id === id)?.name ?? id),
    folder: folder ? [folder === 'unsorted' ? t`No folder` : (folders.get(folder) ?? folder)] : [],
    creator: creator ? [member?.userId === creator ? member.name : creator] : [],
    partner: partner ? [found?.id === partner ? found.name : partner] : [],
    created: useDayNames(created),
  }
}

/** Names of the folders by id. */
export function useFolders(isEnabled: boolean): ReadonlyMap<string, string> {
  const { data } = useOperation('listFolders', { query: { pageSize: 100 } }, { enabled: isEnabled, staleTime: 60_000 })
  return useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data])
}
