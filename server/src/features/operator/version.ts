import { readFileSync } from 'node:fs'

/** The version of this program, such as 0.1.0. */
export function readVersion(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}

/** A version of three numbers, with or without a `v`; undefined for anything else. */
export function parseVersion(text: string): string | undefined {
  return /^v?(\d{1,6}\.\d{1,6}\.\d{1,6})$/.exec(text.trim())?.[1]
}

/** Whether the first version is newer than the second. */
export function isNewer(one: string, other: string): boolean {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number)) as [number[], number[]]
  for (const [index, number] of left.entries()) {
    const difference = number - (right[index] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return false
}
