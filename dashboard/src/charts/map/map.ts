import { countryLines } from './countries.ts'

/** A country on the map: where its name belongs, and its shape; a small one has none. */
export type Country = { code: string; x: number; y: number; path?: string }

export const countries: ReadonlyMap<string, Country> = new Map(
  countryLines
    .trim()
    .split('\n')
    .map((line) => {
      const [, code = '', x, y, path] = /^(\S+) (\S+) (\S+) ?(.*)$/.exec(line) ?? []
      return [code, { code, x: Number(x), y: Number(y), path: path || undefined }]
    }),
)

/** The entries above zero from the highest value down. */
export function rankValues(values: ReadonlyMap<string, number>): [code: string, value: number][] {
  return [...values]
    .filter(([, value]) => value > 0)
    .sort(([one, value], [other, otherValue]) => otherValue - value || (one < other ? -1 : 1))
}

const palest = 0.22

/** How strong a country's colour is, by the square root of its value, so that one large country leaves the others visible. */
export function shade(value: number, most: number): number {
  return palest + (1 - palest) * Math.sqrt(Math.min(1, value / most))
}

/** The rank that a key leads to from another; undefined for other keys. */
export function moveRank(key: string, rank: number, count: number): number | undefined {
  const targets: Record<string, number> = {
    ...{ ArrowRight: rank + 1, ArrowDown: rank + 1, End: count - 1 },
    ...{ ArrowLeft: rank - 1, ArrowUp: rank - 1, Home: 0 },
  }
  const target = targets[key]
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target))
}
