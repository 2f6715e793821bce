import { Trans, useLingui } from '@lingui/react/macro'
import { useOperation } from '../../app/queries.ts'
import { WorldMap } from '../../charts/world-map.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import type { AnalyticsSearch, ChangeAnalytics } from './analytics-search.ts'
import { parseValues, toggleValue } from './filter-values.ts'
import { measureColor, useMeasureFormat } from './measures.ts'
import { measureNames } from './names.ts'
import { measuredEvent, type PageQuery } from './queries.ts'
import { nameCountries } from './value-text.ts'

type Props = { search: AnalyticsSearch; change: ChangeAnalytics; query: PageQuery }

const mostCountries = 300

/** Countries on a map; one filters the page by itself. */
export function CountryMap({ search, change, query }: Props) {
  const { t } = useLingui()
  const { measure = 'clicks' } = search
  const format = useMeasureFormat(measure)
  const country = nameCountries(useLocale())
  const { data, isPlaceholderData } = useOperation('retrieveAnalyticsBatch', {
    body: { ...query, event: measuredEvent(measure), groupBy: ['countries'], limit: mostCountries },
  })
  if (!data?.countries) return <Skeleton className="m-4 h-48" />
  const values = new Map(data.countries.map((row) => [String(row.country), row[measure]]))
  const name = t(measureNames[measure])
  return (
    <div className={`px-4 pt-1 ${isPlaceholderData ? 'opacity-60' : ''}`}>
      <WorldMap
        values={values}
        names={(code) => country(code) ?? t`Unknown`}
        format={format}
        description={t`${name} by country`}
        columns={[<Trans key="country">Country</Trans>, name]}
        onChoose={(code) => change({ country: toggleValue(search.country, code) })}
        chosen={new Set(parseValues(search.country).values)}
        className={measureColor(measure)}
      />
    </div>
  )
}
