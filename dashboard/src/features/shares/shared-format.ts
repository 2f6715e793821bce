import { formatMoney, formatNumber, formatShort, formatShortMoney } from '../../ui/format.ts'
import type { Counts, Measure } from '../analytics/measures.ts'
import type { SharedPage, SharedStatistics } from './visit.ts'

/** The measures that a page shows. */
export function shownMeasures({ showConversions }: SharedPage): readonly Measure[] {
  return showConversions ? ['clicks', 'leads', 'sales', 'saleAmount'] : ['clicks']
}

/** All counts of a row; those that the page does not show are 0. */
export function readCounts(row: NonNullable<SharedStatistics['count']>): Counts {
  return { leads: 0, sales: 0, saleAmount: 0, ...row }
}

/** Writes a value of a measure, money in the currency of the page; `isShort` for the axis of a chart. */
export function formatShared(measure: Measure, value: number, page: SharedPage, locale: string, isShort = false) {
  if (measure !== 'saleAmount' || page.currency === null) {
    return isShort ? formatShort(value, locale) : formatNumber(value, locale)
  }
  return (isShort ? formatShortMoney : formatMoney)(value, page.currency, locale)
}
