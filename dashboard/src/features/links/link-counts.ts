import { useOperation } from '../../app/queries.ts'

const mostGroups = 100

/** How many links each folder or tag has, archived ones too; undefined for what is not among the largest. */
export function useLinkCounts(groupBy: 'folderId' | 'tagId'): (id: string) => number | undefined {
  const { data } = useOperation('getLinkGroups', {
    query: { groupBy, showArchived: 'true', pageSize: mostGroups },
  })
  return (id) => {
    const found = data?.find((group) => group[groupBy] === id)?.count
    return found ?? (data && data.length < mostGroups ? 0 : undefined)
  }
}
