/** The language of the page with the region of the browser, when the browser speaks that language: `en` is en-GB in London. */
export function regionalLocale(language: string, browser: readonly string[] = globalThis.navigator?.languages ?? []) {
  return browser.find((one) => one === language || one.startsWith(`${language}-`)) ?? language
}

// Making a format takes longer than using it a hundred times, and a list has hundreds of figures.
function reuse<Options, Format>(make: (locale: string, options: Options) => Format) {
  const formats = new Map<string, Format>()
  return (locale: string, options: Options): Format => {
    const key = `${locale} ${JSON.stringify(options)}`
    const format = formats.get(key) ?? make(locale, options)
    formats.set(key, format)
    return format
  }
}

const numbers = reuse((locale, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options))
const dates = reuse((locale, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options))
const distances = reuse((locale, options: Intl.RelativeTimeFormatOptions) => {
  return new Intl.RelativeTimeFormat(locale, options)
})

export function formatNumber(value: number, locale: string): string {
  return numbers(locale, {}).format(value)
}

/** A number in four characters or so: 12,840 is 12.8K. */
export function formatShort(value: number, locale: string): string {
  if (Math.abs(value) < 10_000) return formatNumber(value, locale)
  return numbers(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** Bytes in their largest unit: 12.4 MB. */
export function formatBytes(bytes: number, locale: string): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const unitDisplay = power === 0 ? 'long' : 'short'
  const format = numbers(locale, { style: 'unit', unit: units[power], unitDisplay, maximumFractionDigits: 1 })
  return format.format(bytes / 1_000 ** power)
}

/** An amount in the smallest unit of its currency. */
export function formatMoney(amount: number, currency: string, locale: string): string {
  const format = numbers(locale, { style: 'currency', currency })
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions()
  return format.format(amount / 10 ** digits)
}

/** The same in few characters: 1,284,000 cents are $12.8K. */
export function formatShortMoney(amount: number, currency: string, locale: string): string {
  const { maximumFractionDigits: digits = 2 } = numbers(locale, { style: 'currency', currency }).resolvedOptions()
  return numbers(locale, { style: 'currency', currency, notation: 'compact' }).format(amount / 10 ** digits)
}

/** A day without its year when it is this year's: 2 Oct, or 2 Oct 2024. */
export function formatDay(at: string, locale: string, timeZone: string, now = new Date()): string {
  const year = (date: Date) => dates('en', { year: 'numeric', timeZone }).format(date)
  const date = new Date(at)
  return dates(locale, {
    day: 'numeric',
    month: 'short',
    ...(year(date) !== year(now) && { year: 'numeric' }),
    timeZone,
  }).format(date)
}

/** The time of day to the second; on another day, the day and the time to the minute. */
export function formatClock(at: string, locale: string, timeZone: string, now = new Date()): string {
  const day = formatDay(at, locale, timeZone, now)
  const isToday = day === formatDay(now.toISOString(), locale, timeZone, now)
  const date = new Date(at)
  if (isToday) return dates(locale, { timeStyle: 'medium', timeZone }).format(date)
  return `${day}, ${dates(locale, { timeStyle: 'short', timeZone }).format(date)}`
}

/** Date and time with the name of the time zone. */
export function formatExactTime(at: string, locale: string, timeZone: string): string {
  return dates(locale, {
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
  return distances(locale, { numeric: 'auto' }).format(Math.trunc(seconds / size), unit)
}
