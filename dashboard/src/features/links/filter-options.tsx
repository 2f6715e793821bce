import { useLingui } from '@lingui/react/macro'
import { useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { DayOptions } from '../../ui/day-options.tsx'
import { recentDays } from '../../ui/days.ts'
import { type Option, OptionList } from '../../ui/option-list.tsx'
import { Tag } from '../../ui/tag.tsx'
import { type ChangeSearch, type FilterName, stateNames } from './filter-names.ts'
import type { LinkState, LinksSearch } from './search.ts'

type Props = { filter: FilterName; search: LinksSearch; change: ChangeSearch; onDone(): void }

/** The options of one filter. */
export function FilterOptions({ filter, search, change, onDone }: Props) {
  const choose = (changed: Partial<LinksSearch>) => {
    change(changed)
    onDone()
  }
  if (filter === 'tags') {
    const ids = search.tags?.split(',') ?? []
    const toggle = (id: string) => (ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id])
    return <TagOptions selected={ids} onChoose={(id) => change({ tags: toggle(id).join() || undefined })} />
  }
  if (filter === 'folder') return <FolderOptions selected={search.folder} onChoose={(folder) => choose({ folder })} />
  if (filter === 'domain') return <DomainOptions selected={search.domain} onChoose={(domain) => choose({ domain })} />
  if (filter === 'creator')
    return <CreatorOptions selected={search.creator} onChoose={(creator) => choose({ creator })} />
  if (filter === 'partner')
    return <PartnerOptions selected={search.partner} onChoose={(partner) => choose({ partner })} />
  if (filter === 'state') return <StateOptions search={search} onChoose={choose} />
  return <CreatedOptions days={search.created} onChoose={(created) => choose({ created })} />
}

type TagProps = { selected: readonly string[]; onChoose(id: string): void; onCreate?(name: string): void }

export function TagOptions({ selected, onChoose, onCreate }: TagProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('getTags', { query: { search, pageSize: 50 } })
  return (
    <OptionList
      label={t`Find a tag`}
      options={data.map(({ id, name, color }) => ({ value: id, name, content: <Tag color={color}>{name}</Tag> }))}
      selected={selected}
      onChoose={onChoose}
      search={search}
      onSearch={setSearch}
      isLoading={isPending}
      onCreate={onCreate}
    />
  )
}

type OneProps = { selected: string | undefined; onChoose(value: string): void; onCreate?(name: string): void }

export function FolderOptions({ selected, onChoose, onCreate }: OneProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('listFolders', { query: { search, pageSize: 50 } })
  const options = data.map(({ id, name }) => ({ value: id, name }))
  return (
    <OneOption
      label={t`Find a folder`}
      options={search ? options : [{ value: 'unsorted', name: t`No folder` }, ...options]}
      {...{ selected, onChoose, onCreate, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}

export function DomainOptions({ selected, onChoose }: OneProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('listDomains', { query: { search, pageSize: 50 } })
  return (
    <OneOption
      label={t`Find a domain`}
      options={data.map(({ slug }) => ({ value: slug, name: slug }))}
      {...{ selected, onChoose, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}

function CreatorOptions({ selected, onChoose }: OneProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('listMembers', { query: { pageSize: 100 } })
  const isFound = ({ name, email }: { name: string; email: string }) =>
    `${name} ${email}`.toLowerCase().includes(search.trim().toLowerCase())
  return (
    <OneOption
      label={t`Find a member`}
      options={data.filter(isFound).map(({ userId, name, email }) => ({ value: userId, name: name || email }))}
      {...{ selected, onChoose, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}

function PartnerOptions({ selected, onChoose }: OneProps) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('listPartners', { query: { search, pageSize: 50 } })
  return (
    <OneOption
      label={t`Find a partner`}
      options={data.map(({ id, name }) => ({ value: id, name }))}
      {...{ selected, onChoose, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}

type ListProps = OneProps & {
  label: string
  options: readonly Option[]
  search: string
  onSearch(search: string): void
  isLoading: boolean
}

function OneOption({ selected, ...rest }: ListProps) {
  return <OptionList selected={selected ? [selected] : []} {...rest} />
}

type StateProps = { search: LinksSearch; onChoose(change: Partial<LinksSearch>): void }

function StateOptions({ search, onChoose }: StateProps) {
  const { t } = useLingui()
  return (
    <OptionList
      label={t`State`}
      options={Object.entries(stateNames).map(([value, name]) => ({ value, name: t(name) }))}
      selected={[search.state ?? (search.archived ? 'all' : '')]}
      onChoose={(value) =>
        onChoose({
          state: value === 'all' ? undefined : (value as LinkState),
          archived: value === 'all' ? true : undefined,
        })
      }
    />
  )
}

type CreatedProps = { days: string | undefined; onChoose(days: string | undefined): void }

function CreatedOptions(props: CreatedProps) {
  const { t } = useLingui()
  return <DayOptions label={t`Created`} recent={recentDays} {...props} />
}
