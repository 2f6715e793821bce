/** Codes that have a name but are no country of a visitor: unions, pseudo-locales, unknown. */
const others = new Set(['EU', 'EZ', 'QO', 'UN', 'XA', 'XB', 'ZZ'])
const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']

/** Countries by their two-letter codes, in the order of their names. */
export function countryNames(locale: string): Map<string, string> {
  const names = new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' })
  const codes = letters
    .flatMap((first) => letters.map((second) => first + second))
    .filter((code) => !others.has(code) && isPresent(code))
  const named = codes.flatMap((code) => {
    const name = names.of(code)
    return name ? [[code, name] as const] : []
  })
  return new Map(named.sort(([, a], [, b]) => a.localeCompare(b, locale)))
}

/** Former codes have the name of what came after them: DD and DE are both Germany. */
function isPresent(code: string): boolean {
  return new Intl.Locale(`und-${code}`).region === code
}
