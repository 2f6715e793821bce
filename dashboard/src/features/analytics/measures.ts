import { useCallback } from 'react'
import { useLocale } from '../../ui/figures.tsx'
import { formatMoney, formatNumber, formatShort, formatShortMoney } from '../../ui/format.ts'
import { useWorkspaceSettings } from '../links/queries.ts'

export const measures = ['clicks', 'leads', 'sales', 'saleAmount'] as const
export type Measure = (typeof measures)[number]
export type Counts = Record<Measure, number>

/** Writes a value of a measure in the page's language, money in the workspace's currency. */
export function useMeasureFormat(measure: Measure): (value: number) => string {
  const locale = useLocale()
  const { currency } = useWorkspaceSettings()
  return useCallback(
    (value) => (measure === 'saleAmount' ? formatMoney(value, currency, locale) : formatNumber(value, locale)),
    [measure, currency, locale],
  )
}

/** The same in few characters, for the axis of a chart. */
export function useTickFormat(measure: Measure): (value: number) => string {
  const locale = useLocale()
  const { currency } = useWorkspaceSettings()
  return useCallback(
    (value) => (measure === 'saleAmount' ? formatShortMoney(value, currency, locale) : formatShort(value, locale)),
    [measure, currency, locale],
  )
}

export function measureColor(measure: Measure): string {
  return measure === 'clicks' ? 'text-clicks' : measure === 'leads' ? 'text-leads' : 'text-sales'
}
