import type { MessageDescriptor } from '@lingui/core'
import { useLingui } from '@lingui/react/macro'
import { useQueries } from '@tanstack/react-query'
import { operationQuery, useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { useLocale } from '../../ui/figures.tsx'
import { useFolders } from '../links/link-filters.tsx'
import { shortAddress, shortDestination } from '../links/texts.ts'
import type { EventSearch, FilterName } from './event-search.ts'
import { parseValues } from './filter-values.ts'
import { continentTexts, triggerTexts } from './names.ts'
import { nameCountries } from './value-text.ts'

type FilterValueName = (filter: FilterName | 'customerId', value: string) => string

/** Names the values of filters. Ids are looked up, and stand as they are until then. */
export function useFilterNames(search: EventSearch): FilterValueName {
  const { t } = useLingui()
  const country = nameCountries(useLocale())
  const found = useNamesById(search)
  const written = (text: MessageDescriptor | undefined, value: string) => (text ? t(text) : value)
  return (filter, value) => {
    switch (filter) {
      case 'country':
        return country(value) ?? value
      case 'continent':
        return written(continentTexts[value], value)
      case 'trigger':
        return written(triggerTexts[value], value)
      case 'referer':
      case 'refererUrl':
        return value === '(direct)' ? t`Direct` : shortDestination(value)
      case 'url':
        return shortDestination(value)
      default:
        return found.get(value) ?? value
    }
  }
}

/** Only the first value of a filter is shown by name; the others are counted. */
function useNamesById(search: EventSearch): ReadonlyMap<string, string> {
  const { slug } = useWorkspace()
  const first = (name: FilterName) => parseValues(search[name]).values[0]
  const [linkId, partnerId] = [first('linkId'), first('partnerId')]
  const ofOne = useQueries({
    queries: [
      {
        ...operationQuery(slug, 'getLinkInfo', { query: { linkId } }),
        enabled: linkId !== undefined,
        select: (link: { id: string; domain: string; key: string }) => [link.id, shortAddress(link)] as const,
      },
      {
        ...operationQuery(slug, 'getPartner', { params: { id: partnerId ?? '' } }),
        enabled: partnerId !== undefined,
        select: ({ id, name }: { id: string; name: string }) => [id, name] as const,
      },
      {
        ...operationQuery(slug, 'getCustomer', { params: { id: search.customerId ?? '' } }),
        enabled: search.customerId !== undefined,
        select: ({ id, name, email }: { id: string; name: string | null; email: string | null }) =>
          [id, name || email || id] as const,
      },
    ],
  })
  const tagIds = parseValues(search.tagId).values.join()
  const { data: tags } = useOperation('getTags', { query: { ids: tagIds } }, { enabled: tagIds !== '' })
  const folders = useFolders(search.folderId !== undefined)
  const ofGroups = useOperation('listPartnerGroups', {}, { enabled: search.groupId !== undefined })
  const ofTags = useOperation('listPartnerTags', {}, { enabled: search.partnerTagId !== undefined })
  return new Map([
    ...ofOne.flatMap(({ data }) => (data ? [data] : [])),
    ...[tags, ofGroups.data, ofTags.data].flatMap((list) => list?.map(({ id, name }) => [id, name] as const) ?? []),
    ...folders,
  ])
}
