import { useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { control } from '../../ui/field.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { Select } from '../../ui/select.tsx'
import { localTime } from '../analytics/days.ts'
import { periodTexts } from '../analytics/names.ts'
import { isNamed, type Moment, type Period, periodDays, periodNames } from '../analytics/periods.ts'
import { isWithin, type SharedSearch } from './shared-search.ts'
import type { SharedPage } from './visit.ts'

type Props = { page: SharedPage; moment: Moment; search: SharedSearch; onChange(next: SharedSearch): void }

/** The period: a name or own days; of a fixed period only a part of it. */
export function SharedPeriod({ page, moment, search, onChange }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const chosen = search.period ?? page.period ?? ''
  const [isAsking, setAsking] = useState(false)
  const isOwn = isAsking || (chosen !== '' && !isNamed(chosen))
  const bounds = dayBounds(page, moment)
  const options =
    page.period === null
      ? [{ value: '', name: formatDays(bounds.first ?? bounds.last, bounds.last, locale) }]
      : periodNames
          .filter((name) => (periodDays(name, moment)?.from ?? bounds.last) >= (bounds.first ?? ''))
          .map((value) => ({ value, name: t(periodTexts[value]) }))
  const choose = (value: string) => {
    const days = value === 'own' ? ownDays(chosen, bounds, moment) : undefined
    setAsking(value === 'own' && !days)
    const { period: _, ...rest } = search
    if (days) onChange({ ...rest, period: days })
    else if (value !== 'own') onChange({ ...rest, ...(value !== (page.period ?? '') && { period: value }) })
  }
  return (
    <div className="flex flex-wrap items-center gap-2">
      {isOwn && (
        <OwnDays
          bounds={bounds}
          period={search.period}
          onChoose={(period) => {
            setAsking(false)
            onChange({ ...search, period })
          }}
        />
      )}
      <Select
        aria-label={t`Period`}
        options={[...options, { value: 'own', name: t`Own days` }]}
        value={isOwn ? 'own' : chosen}
        onChoose={choose}
      />
    </div>
  )
}

type Bounds = { first: string | undefined; last: string }
type OwnProps = { bounds: Bounds; period: Period | undefined; onChoose(period: Period): void }

function OwnDays({ bounds, period, onChoose }: OwnProps) {
  const { t } = useLingui()
  const [from = '', to = ''] = period?.includes('..') ? period.split('..') : []
  const [days, setDays] = useState({ from, to })
  const change = (next: typeof days) => {
    setDays(next)
    const own = `${next.from}..${next.to}`
    if (next.from && next.to && next.from <= next.to && isWithin(own, bounds)) onChoose(own)
  }
  const input = {
    ...{ type: 'date', min: bounds.first, max: bounds.last },
    className: `h-8 max-md:h-11 ${control} w-36!`,
  }
  return (
    <span className="flex items-center gap-1.5">
      <input
        {...input}
        aria-label={t`First day`}
        value={days.from}
        onChange={(event) => change({ ...days, from: event.target.value })}
      />
      <span aria-hidden className="text-muted">
        –
      </span>
      <input
        {...input}
        aria-label={t`Last day`}
        value={days.to}
        onChange={(event) => change({ ...days, to: event.target.value })}
      />
    </span>
  )
}

/** The days that the chosen period has; undefined for all time, whose first day is not known. */
function ownDays(chosen: Period, { first, last }: Bounds, moment: Moment): Period | undefined {
  const days = chosen === '' ? first && { from: first, to: last } : periodDays(chosen, moment)
  return days && `${days.from}..${days.to}`
}

/** The days that can be chosen. The end of a fixed period is the moment after its last day. */
function dayBounds({ start, end, timezone }: SharedPage, { now }: Moment): Bounds {
  const last = end === null ? now : new Date(Date.parse(end) - 1)
  const first = start === null ? undefined : localTime(new Date(start), timezone).day
  return { first, last: localTime(last, timezone).day }
}

function formatDays(first: string, last: string, locale: string): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' })
  return format.formatRange(new Date(first), new Date(last))
}
