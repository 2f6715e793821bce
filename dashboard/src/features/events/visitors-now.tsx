import { Plural, useLingui } from '@lingui/react/macro'
import { useOperation } from '../../app/queries.ts'
import { State } from '../../ui/state.tsx'
import { type EventsSearch, visitorsQuery } from './search.ts'

const freshMs = 5_000

/** Distinct people of the last five minutes, of the links that the page is filtered by. */
export function VisitorsNow({ search }: { search: EventsSearch }) {
  const { t } = useLingui()
  const { data } = useOperation(
    'retrieveVisitorsNow',
    { query: visitorsQuery(search) },
    { refetchInterval: freshMs, staleTime: freshMs },
  )
  if (!data) return null
  return (
    <span className="text-sm" title={t`Distinct people of the last five minutes, without bots`}>
      <State kind={data.visitors > 0 ? 'good' : 'none'}>
        <Plural value={data.visitors} one="# visitor now" other="# visitors now" />
      </State>
    </span>
  )
}
