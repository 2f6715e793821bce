const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** A length of time in its largest whole unit, such as 3 minutes. */
export function formatDuration(seconds: number, locale: string): string {
  const [unit, size] = units.find(([, size]) => seconds >= size) ?? (['second', 1] as const)
  const value = Math.max(0, Math.floor(seconds / size))
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(value)
}

/** Bytes in their largest unit, such as 203 MB. */
export function formatBytes(bytes: number, locale: string): string {
  const names = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
  const index = Math.min(names.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const options = { style: 'unit', unit: names[index], unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(locale, options).format(bytes / 1_000 ** index)
}
