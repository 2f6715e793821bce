import { Trans, useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { Button } from './button.tsx'
import { recentNames } from './day-names.ts'
import { type Days, parseDays, splitDays } from './days.ts'
import { Field, TextInput } from './field.tsx'
import { OptionList } from './option-list.tsx'

type Props = {
  label: string
  recent: readonly string[]
  days: Days | undefined
  onChoose(days: Days | undefined): void
}

/** The last days, or a first and a last day of which one may be open. */
export function DayOptions({ label, recent, days, onChoose }: Props) {
  const { t } = useLingui()
  const [range, setRange] = useState(splitDays(days))
  const given = parseDays(`${range.from}..${range.to}`)
  const isBackwards = range.from !== '' && range.to !== '' && range.from > range.to
  return (
    <div className="flex w-64 flex-col">
      <OptionList
        label={label}
        options={recent.flatMap((value) => {
          const name = recentNames[value]
          return name ? { value, name: t(name) } : []
        })}
        selected={days ? [days] : []}
        onChoose={onChoose}
      />
      <form
        className="flex flex-col gap-2 border-t p-3"
        onSubmit={(event) => {
          event.preventDefault()
          if (given && !isBackwards) onChoose(given)
        }}
      >
        <Field label={<Trans>From</Trans>}>
          <TextInput
            type="date"
            value={range.from}
            onChange={(event) => setRange({ ...range, from: event.target.value })}
          />
        </Field>
        <Field label={<Trans>To</Trans>} error={isBackwards && <Trans>The first day is after the last.</Trans>}>
          <TextInput
            type="date"
            value={range.to}
            onChange={(event) => setRange({ ...range, to: event.target.value })}
          />
        </Field>
        <Button type="submit" disabled={!given || isBackwards}>
          <Trans>Show these days</Trans>
        </Button>
      </form>
    </div>
  )
}
