import { Trans, useLingui } from '@lingui/react/macro'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { useLocale } from '../../ui/figures.tsx'
import { formatDay } from '../../ui/format.ts'
import { Kbd } from '../../ui/kbd.tsx'
import { OptionList } from '../../ui/option-list.tsx'
import { Popover, PopoverContent, PopoverTrigger } from '../../ui/popover.tsx'
import { periodTexts } from './names.ts'
import { defaultPeriod, isNamed, type Moment, type Period, parsePeriod, periodDays, periodNames } from './periods.ts'

type Props = {
  period: Period | undefined
  moment: Moment
  onChange(period: Period | undefined): void
  isOpen: boolean
  onToggle(isOpen: boolean): void
}

/** The period of a page about events: a name, or own days. */
export function PeriodMenu({ period = defaultPeriod, moment, onChange, isOpen, onToggle }: Props) {
  const { t } = useLingui()
  const name = usePeriodName(period, moment)
  const choose = (chosen: Period) => {
    onChange(parsePeriod(chosen))
    onToggle(false)
  }
  return (
    <Popover open={isOpen} onOpenChange={onToggle}>
      <PopoverTrigger asChild>
        <Button>
          {name}
          <ChevronDown size={14} aria-hidden />
          <Kbd>P</Kbd>
        </Button>
      </PopoverTrigger>
      <PopoverContent align="end" aria-label={t`Period`}>
        <div className="flex w-64 max-w-full flex-col">
          <OptionList
            label={t`Period`}
            options={periodNames.map((value) => ({ value, name: t(periodTexts[value]) }))}
            selected={[period]}
            onChoose={choose}
          />
          <OwnDays period={period} moment={moment} onChoose={choose} />
        </div>
      </PopoverContent>
    </Popover>
  )
}

function OwnDays({ period, moment, onChoose }: { period: Period; moment: Moment; onChoose(period: Period): void }) {
  const [days, setDays] = useState(() => periodDays(period, moment) ?? { from: '', to: '' })
  const given = parsePeriod(`${days.from}..${days.to}`)
  const isBackwards = days.from !== '' && days.to !== '' && days.from > days.to
  return (
    <form
      className="flex flex-col gap-2 border-t p-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (given) onChoose(given)
      }}
    >
      <div className="grid grid-cols-2 gap-2">
        <Field label={<Trans>From</Trans>}>
          <TextInput
            type="date"
            value={days.from}
            onChange={(event) => setDays({ ...days, from: event.target.value })}
          />
        </Field>
        <Field label={<Trans>To</Trans>}>
          <TextInput type="date" value={days.to} onChange={(event) => setDays({ ...days, to: event.target.value })} />
        </Field>
      </div>
      {isBackwards && (
        <p role="alert" className="text-xs text-harm">
          <Trans>The first day is after the last.</Trans>
        </p>
      )}
      <Button type="submit" disabled={!given}>
        <Trans>Show these days</Trans>
      </Button>
    </form>
  )
}

/** The name of a period, or its days. */
function usePeriodName(period: Period, moment: Moment): string {
  const { t } = useLingui()
  const locale = useLocale()
  if (isNamed(period)) return t(periodTexts[period])
  const { from, to } = periodDays(period, moment) as { from: string; to: string }
  const [first, last] = [from, to].map((day) => formatDay(day, locale, 'UTC', moment.now))
  return from === to ? `${first}` : `${first} – ${last}`
}
