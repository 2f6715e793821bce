import type { FilterValues } from '../events/service.ts'

/** Both filters together; `none` when no value matches both. */
export function combineFilters(one: FilterValues, other: FilterValues): FilterValues | 'none' {
  if (one.excluded && other.excluded) {
    return { values: [...new Set([...one.values, ...other.values])], excluded: true }
  }
  const [included, limit] = one.excluded ? [other, one] : [one, other]
  const values = included.values.filter((value) => limit.values.includes(value) !== limit.excluded)
  return values.length === 0 ? 'none' : { values, excluded: false }
}

/** Writes a filter as a query parameter, which `parseFilterValues` reads. */
export function writeFilter({ values, excluded }: FilterValues): string {
  const written = values.map((value) => value.replaceAll(/[\\, -]/g, '\\$&')).join(',')
  return excluded ? `-${written}` : written
}
