import { useLingui } from '@lingui/react/macro'
import { useMemo, useState } from 'react'
import { useOperation } from '../../app/queries.ts'
import { useLocale } from '../../ui/figures.tsx'
import { OptionList } from '../../ui/option-list.tsx'
import { countryNames } from '../links/countries.ts'
import { shortAddress } from '../links/texts.ts'
import type { FilterName } from './search.ts'

type Props = { selected: string | undefined; onChoose(value: string): void }

/** The options of one filter. */
export function FilterOptions({ filter, ...rest }: Props & { filter: FilterName }) {
  if (filter === 'country') return <CountryOptions {...rest} />
  return filter === 'link' ? <LinkOptions {...rest} /> : <PartnerOptions {...rest} />
}

function CountryOptions({ selected, onChoose }: Props) {
  const { t } = useLingui()
  const locale = useLocale()
  const [search, setSearch] = useState('')
  const countries = useMemo(() => [...countryNames(locale)], [locale])
  const text = search.trim().toLowerCase()
  const found = countries.filter(([code, name]) => code.toLowerCase() === text || name.toLowerCase().includes(text))
  return (
    <OptionList
      label={t`Find a country`}
      options={found.map(([value, name]) => ({ value, name }))}
      {...{ selected: selected ? [selected] : [], onChoose, search, onSearch: setSearch }}
    />
  )
}

function LinkOptions({ selected, onChoose }: Props) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('getLinks', { query: { search, pageSize: 50 } })
  return (
    <OptionList
      label={t`Find a link`}
      options={data.map((link) => ({ value: link.id, name: shortAddress(link) }))}
      {...{ selected: selected ? [selected] : [], onChoose, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}

function PartnerOptions({ selected, onChoose }: Props) {
  const { t } = useLingui()
  const [search, setSearch] = useState('')
  const { data = [], isPending } = useOperation('listPartners', { query: { search, pageSize: 50 } })
  return (
    <OptionList
      label={t`Find a partner`}
      options={data.map(({ id, name }) => ({ value: id, name }))}
      {...{ selected: selected ? [selected] : [], onChoose, search, onSearch: setSearch, isLoading: isPending }}
    />
  )
}
