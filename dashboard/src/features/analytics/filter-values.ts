/** The values of a filter, as the API reads them from one text: `a,b` is either, `-a,b` is neither. */
export type FilterValues = { values: readonly string[]; isExcluded: boolean }

/** Blanks around a value are not part of it, unless a backslash precedes them. */
export function parseValues(text: string | undefined): FilterValues {
  if (!text) return { values: [], isExcluded: false }
  const isExcluded = text.startsWith('-')
  const values = ['']
  let blanks = ''
  for (const [token] of text.slice(isExcluded ? 1 : 0).matchAll(/\\[\\, -]|./gsu)) {
    const value = values.at(-1) ?? ''
    const isBlank = /^\s$/u.test(token)
    if (token === ',') values.push('')
    else if (isBlank) blanks += token
    else values[values.length - 1] = value + (value && blanks) + token.replace(/^\\(?=[\\, -])/, '')
    if (!isBlank) blanks = ''
  }
  return { values: values.filter((value) => value !== ''), isExcluded }
}

/** Undefined for no values: the filter is not set. */
export function formatValues({ values, isExcluded }: FilterValues): string | undefined {
  if (values.length === 0) return undefined
  return (isExcluded ? '-' : '') + values.map(escapeValue).join(',')
}

function escapeValue(value: string): string {
  return value.replaceAll(/\\(?=[\\, -]|$)|,|^[- ]| $/g, String.raw`\$&`)
}

/** Adds a value, or takes it away. Another operator begins anew. */
export function toggleValue(text: string | undefined, value: string, isExcluded = false): string | undefined {
  const before = parseValues(text)
  if (before.values.length === 0 || before.isExcluded !== isExcluded)
    return formatValues({ values: [value], isExcluded })
  const others = before.values.filter((one) => one !== value)
  return formatValues({ values: others.length < before.values.length ? others : [...others, value], isExcluded })
}
