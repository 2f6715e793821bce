import { ConfigError } from '../../platform/config.ts'

const suffixes = { k: 1e3, M: 1e6, G: 1e9, T: 1e12 } as const

/** Reads a number such as 250, 2.5k, 360M or 40G; `K` is `k`. */
export function parseQuantity(option: string, text: string): number {
  const [, digits, suffix] = /^(\d+(?:\.\d+)?)([kKMGT]?)$/.exec(text) ?? []
  if (digits === undefined) {
    const hint = text.startsWith('-')
      ? "Numbers can't be negative."
      : 'Give a number without commas or spaces, with k, M, G or T for thousands to trillions: 250, 2.5k, 360M, 40G.'
    throw new ConfigError(`${optionName(option)} is ${JSON.stringify(text)}. ${hint}`)
  }
  return Number(digits) * (suffix ? suffixes[suffix.replace('K', 'k') as keyof typeof suffixes] : 1)
}

/** A number in three digits: 263G, 2.5k. */
export function shorten(value: number): string {
  const [suffix, factor] = Object.entries(suffixes).findLast(([, factor]) => value >= factor) ?? ['', 1]
  return `${Number((value / factor).toPrecision(3))}${suffix}`
}

/** A number of things in three digits: 1 click, 2.5k clicks. */
export function formatCount(value: number, thing: string): string {
  const text = shorten(value)
  return `${text} ${thing}${text === '1' ? '' : 's'}`
}

export function optionName(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Bytes in two digits or three, rounded up. */
export function formatBytes(bytes: number): string {
  const units = ['kB', 'MB', 'GB', 'TB', 'PB']
  const unit = Math.max(
    0,
    units.findLastIndex((_, index) => bytes >= 1_000 ** (index + 1)),
  )
  const value = bytes / 1_000 ** (unit + 1)
  return `${value < 10 ? Math.ceil(value * 10) / 10 : Math.ceil(value)} ${units[unit]}`
}
