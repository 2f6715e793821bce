import type { MessageDescriptor } from '@lingui/core'
import { useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { useLocale } from '../../ui/figures.tsx'
import { shortAddress, shortDestination } from '../links/texts.ts'
import { type Dimension, type Row, rowValue } from './dimensions.ts'
import { continentTexts, triggerTexts } from './names.ts'

export type ValueText = (dimension: Dimension, row: Row) => string

/** Writes a row's value as people read it. */
export function useValueText(): ValueText {
  const { t } = useLingui()
  const locale = useLocale()
  return useMemo(() => {
    const country = nameCountries(locale)
    const named = (value: unknown, absent: string) => (isNamed(value) ? value.name : absent)
    const written = (text: MessageDescriptor | undefined, absent: string) => (text ? t(text) : absent)
    return (dimension, row) => {
      const value = rowValue(dimension, row)
      const unknown = t`Unknown`
      switch (dimension) {
        case 'top_links':
          return shortAddress({ domain: String(row.domain), key: String(row.key) })
        case 'top_folders':
          return value === undefined ? t`No folder` : named(row.folder, value)
        case 'top_link_tags':
          return value === undefined ? t`No tag` : named(row.tag, value)
        case 'top_partners':
          return named(row.partner, value ?? unknown)
        case 'top_groups':
          return named(row.group, value ?? unknown)
        case 'top_partner_tags':
          return named(row.partnerTag, value ?? unknown)
        case 'countries':
          return country(value) ?? unknown
        case 'regions':
        case 'cities': {
          const name = dimension === 'regions' ? value?.split('-').slice(1).join('-') : value
          const inCountry = country(String(row.country))
          return [name || unknown, inCountry].filter(Boolean).join(', ')
        }
        case 'continents':
          return written(continentTexts[value ?? ''], value ?? unknown)
        case 'triggers':
          return written(triggerTexts[value ?? ''], value ?? unknown)
        case 'referers':
        case 'referer_urls':
          return value === '(direct)'
            ? t`Direct`
            : dimension === 'referers'
              ? (value ?? unknown)
              : shortDestination(value ?? unknown)
        case 'top_urls':
        case 'top_base_urls':
          return shortDestination(value ?? unknown)
        case 'devices':
        case 'browsers':
        case 'os':
        case 'top_domains':
          return value ?? unknown
        default:
          return value ?? t`None`
      }
    }
  }, [t, locale])
}

const regions = new Map<string, Intl.DisplayNames>()

/** Names countries by their two-letter codes; undefined for what is none. */
export function nameCountries(locale: string): (code: string | undefined) => string | undefined {
  const names = regions.get(locale) ?? new Intl.DisplayNames([locale], { type: 'region', fallback: 'none' })
  regions.set(locale, names)
  return (code) => (code !== undefined && /^[A-Z]{2}$/.test(code) ? names.of(code) : undefined)
}

function isNamed(value: unknown): value is { name: string } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string'
}
