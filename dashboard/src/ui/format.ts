/** The language of the page with the region of the browser, when the browser speaks that language: `en` is en-GB in London. */
export function regionalLocale(language: string, browser: readonly string[] = globalThis.navigator?.languages ?? []) {
  return browser.find((one) => one === language || one.startsWith(`${language}-`)) ?? language
}

export function formatNumber(value: number, locale: string): string {
  return new Intl.NumberFormat(locale).format(value)
}

/** A number in four characters or so: 12,840 is 12.8K. */
export function formatShort(value: number, locale: string): string {
  if (Math.abs(value) < 10_000) return formatNumber(value, locale)
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** An amount in the smallest unit of its currency. */
export function formatMoney(amount: number, currency: string, locale: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency })
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions()
  return format.format(amount / 10 ** digits)
}

/** A day without its year when it is this year's: 2 Oct, or 2 Oct 2024. */
export function formatDay(at: string, locale: string, timeZone: string, now = new Date()): string {
  const year = (date: Date) => new Intl.DateTimeFormat('en', { year: 'numeric', timeZone }).format(date)
  const date = new Date(at)
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'short',
    ...(year(date) !== year(now) && { year: 'numeric' }),
    timeZone,
  }).format(date)
}

/** Date and time with the name of the time zone. */
export function formatExactTime(at: string, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone,
  }).format(new Date(at))
}

const units = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
] as const

/** A time of the last or the next week in words, such as 3 hours ago; undefined for one further off. */
export function formatRelative(at: string, locale: string, now = Date.now()): string | undefined {
  const seconds = (Date.parse(at) - now) / 1_000
  const distance = Math.abs(seconds)
  if (distance >= 7 * 86_400) return undefined
  const [unit, size] = units.findLast(([, size]) => distance >= size) ?? units[0]
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.trunc(seconds / size), unit)
}
