import { useLingui } from '@lingui/react/macro'
import type { Filter } from '../../ui/filter.ts'
import { OptionList } from '../../ui/option-list.tsx'
import type { ChangeEvents, EventsSearch } from './search.ts'

/** The filter that only clicks, or only leads and sales, have. Its first choice is the default. */
export function useKindFilter(search: EventsSearch, change: ChangeEvents): Filter {
  const { t } = useLingui()
  const attribution = {
    id: 'attributed' as const,
    name: t`Attribution`,
    choices: [
      { value: 'true', name: t`With a link` },
      { value: 'false', name: t`Not attributed` },
      { value: 'all', name: t`All` },
    ],
  }
  const bots = {
    id: 'bots' as const,
    name: t`Bots`,
    choices: [
      { value: 'exclude', name: t`Without bots` },
      { value: 'include', name: t`With bots` },
      { value: 'only', name: t`Only bots` },
    ],
  }
  const { id, name, choices } = search.event ? attribution : bots
  const chosen = choices.find(({ value }) => value === search[id])
  return {
    id,
    name,
    chosen: chosen ? [chosen.name] : [],
    clear: () => change({ [id]: undefined }),
    content: (onDone) => (
      <OptionList
        label={name}
        options={choices}
        selected={[(chosen ?? choices[0])?.value ?? '']}
        onChoose={(value) => {
          change({ [id]: value === choices[0]?.value ? undefined : value })
          onDone()
        }}
      />
    ),
  }
}
