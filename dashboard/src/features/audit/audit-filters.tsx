import { Trans, useLingui } from '@lingui/react/macro'
import { type FormEvent, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useWorkspace } from '../../app/workspace.ts'
import { Button } from '../../ui/button.tsx'
import { useDayNames } from '../../ui/day-names.ts'
import { DayOptions } from '../../ui/day-options.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import type { Filter } from '../../ui/filter.ts'
import { type Option, OptionList } from '../../ui/option-list.tsx'
import { auditedOperations } from './operations.ts'
import type { AuditSearch } from './search.ts'

type Change = (changed: Partial<AuditSearch>) => void

/** The filters of the log: who, what, which object and when. */
export function useAuditFilters(search: AuditSearch, change: Change): Filter[] {
  const { t } = useLingui()
  const actors = useActors()
  const { actor, operation, object } = search
  const choose = (changed: Partial<AuditSearch>, onDone: () => void) => {
    change(changed)
    onDone()
  }
  return [
    {
      id: 'actor',
      name: t`Who`,
      chosen: actor ? [actors.find(({ value }) => value === actor)?.name ?? actor] : [],
      clear: () => change({ actor: undefined }),
      content: (onDone) => (
        <Options
          label={t`Find a member or a key`}
          options={actors}
          selected={actor}
          onChoose={(actor) => choose({ actor }, onDone)}
        />
      ),
    },
    {
      id: 'operation',
      name: t`Operation`,
      chosen: operation ? [operation] : [],
      clear: () => change({ operation: undefined }),
      content: (onDone) => (
        <Options
          label={t`Find an operation`}
          options={auditedOperations.map((id) => ({ value: id, name: id }))}
          selected={operation}
          onChoose={(operation) => choose({ operation }, onDone)}
        />
      ),
    },
    {
      id: 'object',
      name: t`Object`,
      chosen: object ? [object] : [],
      clear: () => change({ object: undefined }),
      content: (onDone) => <ObjectForm object={object} onChoose={(object) => choose({ object }, onDone)} />,
    },
    {
      id: 'days',
      name: t`Days`,
      chosen: useDayNames(search.days),
      clear: () => change({ days: undefined }),
      content: (onDone) => (
        <DayOptions
          label={t`Days`}
          recent={['1d', '7d', '30d']}
          days={search.days}
          onChoose={(days) => choose({ days }, onDone)}
        />
      ),
    },
  ]
}

/** Members and keys by id, those that are gone included as far as the server knows them. */
function useActors(): Option[] {
  const { t } = useLingui()
  const { can } = useWorkspace()
  const { data: members = [] } = useOperation(
    'listMembers',
    { query: { pageSize: 100 } },
    { enabled: can('workspaces.read') },
  )
  const { data: tokens = [] } = useOperation(
    'listTokens',
    { query: { pageSize: 100, showInactive: 'true' } },
    { enabled: can('tokens.read') },
  )
  return [
    ...members.map(({ userId, name, email }) => ({ value: userId, name: name || email })),
    ...tokens.map(({ id, name }) => ({ value: id, name: t`Key ${name}` })),
  ]
}

type OptionsProps = { label: string; options: readonly Option[]; selected?: string; onChoose(value: string): void }

const mostShown = 100

function Options({ label, options, selected, onChoose }: OptionsProps) {
  const [search, setSearch] = useState('')
  const words = search.trim().toLowerCase()
  const found = options.filter(({ name }) => name.toLowerCase().includes(words))
  return (
    <OptionList
      label={label}
      options={found.slice(0, mostShown)}
      selected={selected ? [selected] : []}
      onChoose={onChoose}
      search={search}
      onSearch={setSearch}
    />
  )
}

function ObjectForm({ object = '', onChoose }: { object?: string; onChoose(object: string | undefined): void }) {
  const [text, setText] = useState(object)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onChoose(text.trim() || undefined)
  }
  return (
    <form onSubmit={submit} className="flex w-80 max-w-full flex-col gap-2 p-3">
      <Field
        label={<Trans>Id of the object</Trans>}
        hint={<Trans>Of a link, a key, a member or anything else that was changed.</Trans>}
      >
        <TextInput
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="link_…"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <Button type="submit">
        <Trans>Show entries</Trans>
      </Button>
    </form>
  )
}
