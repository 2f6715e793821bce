import { useLingui } from '@lingui/react/macro'
import { lazy } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useLocale } from '../../ui/figures.tsx'
import type { Filter } from '../../ui/filter.ts'
import { shortAddress } from '../links/texts.ts'
import type { ChangeSearch, CustomersSearch, FilterName } from './search.ts'
import { countryName } from './texts.ts'

const FilterOptions = lazy(async () => ({ default: (await import('./filter-options.tsx')).FilterOptions }))

/** The filters of the list. Their options load when they are opened. */
export function useCustomerFilters(search: CustomersSearch, change: ChangeSearch): Filter[] {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const chosen = useChosenNames(search)
  const filter = (id: FilterName, name: string): Filter => ({
    id,
    name,
    chosen: chosen[id] === undefined ? [] : [chosen[id]],
    clear: () => change({ [id]: undefined }),
    content: (onDone) => (
      <FilterOptions
        filter={id}
        selected={search[id]}
        onChoose={(value) => {
          change({ [id]: value })
          onDone()
        }}
      />
    ),
  })
  return [
    filter('country', t`Country`),
    ...(can('links.read') ? [filter('link', t`Link`)] : []),
    ...(can('partners.read') ? [filter('partner', t`Partner`)] : []),
  ]
}

/** The names of what the address has as codes and ids; these until the names are loaded. */
function useChosenNames({ country, link, partner }: CustomersSearch) {
  const locale = useLocale()
  const { data: foundLink } = useOperation(
    'getLinkInfo',
    { query: { linkId: link ?? '' } },
    { enabled: link !== undefined },
  )
  const { data: found } = useOperation(
    'getPartner',
    { params: { id: partner ?? '' } },
    { enabled: partner !== undefined },
  )
  return {
    country: countryName(country, locale),
    link: link && (foundLink?.id === link ? shortAddress(foundLink) : link),
    partner: partner && (found?.id === partner ? found.name : partner),
  }
}
