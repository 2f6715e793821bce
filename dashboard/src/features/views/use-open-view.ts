import { useOperation } from '../../app/queries.ts'
import { isSameQuery, type View, type ViewsProps } from './view-query.ts'

type Props = Pick<ViewsProps, 'screen' | 'query' | 'viewId'>

/** The view that is open, and whether the screen shows something else than it has. */
export function useOpenView({ screen, query, viewId }: Props): { view: View | undefined; isChanged: boolean } {
  const { data } = useOperation('listViews', { query: { screen, pageSize: 100 } }, { enabled: viewId !== undefined })
  const view = viewId === undefined ? undefined : data?.find(({ id }) => id === viewId)
  return { view, isChanged: view !== undefined && !isSameQuery(view.query, query) }
}
