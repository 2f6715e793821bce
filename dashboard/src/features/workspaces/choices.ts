type Choice = { value: string; name: string }

/** All time zones that the browser knows, and UTC. */
export function timeZoneOptions(): Choice[] {
  const names = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])
  return [...names].map((value) => ({ value, name: value.replaceAll('_', ' ') }))
}

/** Currencies by code and name, such as EUR Euro. */
export function currencyOptions(locale: string): Choice[] {
  const names = new Intl.DisplayNames(locale, { type: 'currency' })
  return Intl.supportedValuesOf('currency').map((code) => ({
    value: code.toLowerCase(),
    name: `${code} ${names.of(code) ?? ''}`.trim(),
  }))
}

/** The days of the week in the words of the locale; 0 is Sunday, as in the API. */
export function weekdayOptions(locale: string): Choice[] {
  const format = new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' })
  return [1, 2, 3, 4, 5, 6, 0].map((day) => ({
    value: String(day),
    // 4 January 1970 was a Sunday.
    name: format.format(new Date((3 + day) * 86_400_000)),
  }))
}
