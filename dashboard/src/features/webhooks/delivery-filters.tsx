import { useLingui } from '@lingui/react/macro'
import type { Trigger } from '@tributary/contract/webhooks'
import { useState } from 'react'
import type { Filter } from '../../ui/filter.ts'
import { OptionList } from '../../ui/option-list.tsx'
import type { DeliveriesSearch, DeliveryStatus } from './search.ts'
import { triggerNames } from './trigger-names.ts'
import { triggers } from './triggers.ts'

/** The filters of deliveries, by status and by trigger. */
export function useDeliveryFilters(
  { status, event }: Pick<DeliveriesSearch, 'status' | 'event'>,
  change: (changed: Partial<DeliveriesSearch>) => void,
): Filter[] {
  const { t } = useLingui()
  const statuses: Record<DeliveryStatus, string> = {
    failed: t`Failed`,
    pending: t`Pending or retrying`,
    delivered: t`Delivered`,
  }
  const names = triggers.map((trigger) => ({ value: trigger, name: `${trigger} – ${t(triggerNames[trigger])}` }))
  return [
    {
      id: 'status',
      name: t`Status`,
      chosen: status ? [statuses[status]] : [],
      clear: () => change({ status: undefined }),
      content: (onDone) => (
        <Options
          label={t`Status`}
          options={Object.entries(statuses).map(([value, name]) => ({ value, name }))}
          selected={status}
          onChoose={(value) => {
            change({ status: value as DeliveryStatus })
            onDone()
          }}
        />
      ),
    },
    {
      id: 'event',
      name: t`Trigger`,
      chosen: event ? [event] : [],
      clear: () => change({ event: undefined }),
      content: (onDone) => (
        <Options
          label={t`Find a trigger`}
          options={names}
          selected={event}
          onChoose={(value) => {
            change({ event: value as Trigger })
            onDone()
          }}
        />
      ),
    },
  ]
}

type OptionsProps = {
  label: string
  options: readonly { value: string; name: string }[]
  selected: string | undefined
  onChoose(value: string): void
}

function Options({ label, options, selected, onChoose }: OptionsProps) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  return (
    <OptionList
      label={label}
      options={options.filter(({ name }) => name.toLowerCase().includes(words))}
      selected={selected ? [selected] : []}
      onChoose={onChoose}
      search={search}
      onSearch={setSearch}
    />
  )
}
