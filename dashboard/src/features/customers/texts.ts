import type { Customer } from './queries.ts'

type Named = Pick<Customer, 'id' | 'name' | 'email' | 'externalId'>

/** What a customer is called: the first of name, e-mail address and ids that has something to see. */
export function customerName({ name, email, externalId, id }: Named): string {
  return [name, email, externalId].find((text) => text && isVisible(text)) ?? id
}

/** What must be typed to erase a customer: its name, or its id when the name is not shown as it must be typed. */
export function confirmationText(customer: Named): string {
  const name = customerName(customer)
  return /\s{2,}|[^\S ]|^\s|\s$|[<>\p{Cf}\p{Co}]/u.test(name) ? customer.id : name
}

function isVisible(text: string): boolean {
  return text.replace(/[\p{Cf}\p{Cc}\s]/gu, '') !== ''
}

/** The name of a country; undefined for one that is not known. */
export function countryName(code: string | null | undefined, locale: string): string | undefined {
  if (!code || !/^[A-Z]{2}$/i.test(code)) return undefined
  return new Intl.DisplayNames(locale, { type: 'region', fallback: 'code' }).of(code.toUpperCase())
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** A length of time in its two largest units, such as 3 days, 4 hours. */
export function formatDuration(ms: number, locale: string): string {
  const format = (value: number, unit: string) =>
    new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
  const first = units.findIndex(([, size]) => ms >= size)
  if (first === -1) return format(Math.max(0, Math.floor(ms / 1_000)), 'second')
  let rest = ms
  const parts = units.slice(first, first + 2).flatMap(([unit, size]) => {
    const value = Math.floor(rest / size)
    rest -= value * size
    return value === 0 ? [] : format(value, unit)
  })
  return new Intl.ListFormat(locale, { type: 'unit', style: 'narrow' }).format(parts)
}
