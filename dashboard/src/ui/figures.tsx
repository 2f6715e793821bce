import { useLingui } from '@lingui/react'
import { formatDay, formatExactTime, formatMoney, formatNumber, formatRelative, regionalLocale } from './format.ts'

/** The locale in which numbers and times are written. */
export function useLocale(): string {
  return regionalLocale(useLingui().i18n.locale)
}

/** A count; zero recedes as a dash. */
export function Count({ value }: { value: number }) {
  const locale = useLocale()
  if (value === 0) return <span className="text-faint">–</span>
  return <span>{formatNumber(value, locale)}</span>
}

/** An amount in the smallest unit of its currency; nothing recedes as a dash. */
export function Money({ amount, currency }: { amount: number; currency: string }) {
  const locale = useLocale()
  if (amount === 0) return <span className="text-faint">–</span>
  return <span className="whitespace-nowrap">{formatMoney(amount, currency, locale)}</span>
}

type TimeProps = { at: string; timeZone: string; isDay?: boolean }

/** A time in words within a week, else a day; the exact time with its zone on hover. */
export function Time({ at, timeZone, isDay }: TimeProps) {
  const locale = useLocale()
  const words = isDay ? undefined : formatRelative(at, locale)
  return (
    <time dateTime={at} title={formatExactTime(at, locale, timeZone)} className="whitespace-nowrap">
      {words ?? formatDay(at, locale, timeZone)}
    </time>
  )
}
