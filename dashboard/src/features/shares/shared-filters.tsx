import { useLingui } from '@lingui/react/macro'
import { X } from 'lucide-react'
import { filterDimension, type Row } from '../analytics/dimensions.ts'
import { parseValues } from '../analytics/filter-values.ts'
import { filterTexts } from '../analytics/names.ts'
import { useValueText } from '../analytics/value-text.ts'
import { type SharedFilter, type SharedSearch, sharedFilters } from './shared-search.ts'
import type { SharedPage } from './visit.ts'

/** Writes a filter and its values as people read them. */
function useFilterText() {
  const { t } = useLingui()
  const valueText = useValueText()
  return (name: SharedFilter, given: string) => {
    const { values, isExcluded } = parseValues(given)
    const names = values.map((value) => valueText(filterDimension(name), { [name]: value } as unknown as Row))
    const [field, listed] = [t(filterTexts[name]), names.join(', ')]
    return isExcluded ? t`${field} is not ${listed}` : t`${field}: ${listed}`
  }
}

/** The owner's own filters, which visitors can't remove. */
export function OwnerFilters({ filter }: { filter: SharedPage['filter'] }) {
  const { t } = useLingui()
  const filterText = useFilterText()
  const all = sharedFilters.flatMap((name) => (filter[name] ? [{ name, text: filterText(name, filter[name]) }] : []))
  if (all.length === 0) return null
  return (
    <ul aria-label={t`Filters of the owner`} className="mb-3 flex flex-wrap gap-1.5 text-sm text-muted">
      {all.map(({ name, text }) => (
        <li key={name} className="flex min-h-7 max-w-full items-center rounded-md border border-dashed px-2">
          <bdi className="truncate">{text}</bdi>
        </li>
      ))}
    </ul>
  )
}

/** The visitor's filters, each removable where it stands. */
export function FilterChips({ search, onChange }: { search: SharedSearch; onChange(next: SharedSearch): void }) {
  const { t } = useLingui()
  const filterText = useFilterText()
  const chosen = sharedFilters.flatMap((name) => (search[name] ? [{ name, text: filterText(name, search[name]) }] : []))
  if (chosen.length === 0) return null
  const remove = (name: SharedFilter) => {
    const { [name]: _, ...others } = search
    onChange(others)
  }
  return (
    <ul aria-label={t`Filters`} className="mb-3 flex flex-wrap gap-1.5">
      {chosen.map(({ name, text }) => (
        <li
          key={name}
          className="flex h-8 max-w-full items-stretch overflow-hidden rounded-md border border-line-strong bg-surface text-sm max-md:h-11"
        >
          <bdi className="self-center truncate pl-2.5">{text}</bdi>
          <button
            type="button"
            aria-label={t`Remove filter: ${t(filterTexts[name])}`}
            onClick={() => remove(name)}
            className="grid w-8 shrink-0 place-items-center text-muted hover:bg-hover hover:text-ink focus-visible:bg-hover max-md:w-11"
          >
            <X size={14} aria-hidden />
          </button>
        </li>
      ))}
    </ul>
  )
}
