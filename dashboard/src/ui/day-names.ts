import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { useLingui } from '@lingui/react/macro'
import { type Days, splitDays } from './days.ts'
import { useLocale } from './figures.tsx'

export const recentNames: Record<string, MessageDescriptor> = {
  '1d': msg`Today`,
  '7d': msg`Last 7 days`,
  '30d': msg`Last 30 days`,
  '90d': msg`Last 90 days`,
  '365d': msg`Last year`,
}

/** The chosen days in words; none if none are chosen. */
export function useDayNames(days: Days | undefined): string[] {
  const { t } = useLingui()
  const locale = useLocale()
  if (!days) return []
  const { from, to } = splitDays(days)
  const day = (text: string) =>
    text && new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(text))
  const name = recentNames[days]
  return [name ? t(name) : `${day(from)} – ${day(to)}`]
}
