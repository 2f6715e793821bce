import type { MessageDescriptor } from '@lingui/core'
import { useLingui } from '@lingui/react/macro'
import { useMemo } from 'react'
import { useLocale } from '../../ui/figures.tsx'
import { continentTexts, triggerTexts } from '../analytics/names.ts'
import { nameCountries } from '../analytics/value-text.ts'
import { shortAddress, shortDestination } from '../links/texts.ts'
import { type ColumnName, filterValue, hasLink, isRefund } from './columns.ts'
import type { FeedEvent } from './feed.ts'

export type CellText = (name: ColumnName, event: FeedEvent) => string

const mostShown = 300

/** Writes the value of a column as people read it; empty where there is none. */
export function useCellText(): CellText {
  const { t } = useLingui()
  const locale = useLocale()
  return useMemo(() => {
    const country = nameCountries(locale)
    const conversionName = (event: Conversion) => {
      const name = event.eventName.slice(0, mostShown)
      return isRefund(event) ? t`Refund: ${name}` : name
    }
    const named = (text: MessageDescriptor | undefined, value: string) => (text ? t(text) : value.slice(0, mostShown))
    return (name, event) => {
      const value = filterValue(name, event)
      switch (name) {
        case 'name':
          return event.event === 'click' ? '' : conversionName(event)
        case 'customer':
          return event.event === 'click' ? '' : customerName(event.customer)
        case 'invoice':
          return event.event === 'sale' ? (event.sale.invoiceId ?? '') : ''
        case 'processor':
          return event.event === 'sale' ? event.sale.paymentProcessor : ''
        case 'link':
          return event.link.id === 'link_none' ? t`No link` : hasLink(event) ? shortAddress(event.link) : t`Lost link`
        case 'country':
          return country(value) ?? t`Unknown`
        case 'region':
          return value.split('-').slice(1).join('-') || t`Unknown`
        case 'continent':
          return named(continentTexts[value], value)
        case 'trigger':
          return named(triggerTexts[value], value)
        case 'source':
        case 'page':
          return value === '(direct)' ? t`Direct` : shortDestination(value)
        case 'destination':
          return shortDestination(value)
        default:
          return value === 'Unknown' ? t`Unknown` : value.slice(0, mostShown)
      }
    }
  }, [t, locale])
}

type Conversion = Exclude<FeedEvent, { event: 'click' }>

export function customerName({ name, email, externalId, id }: Conversion['customer']): string {
  return (name || email || externalId || id).slice(0, mostShown)
}
