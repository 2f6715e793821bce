import { randomText } from '../../platform/ids.ts'

/** The key of a bare domain. */
export const rootKey = '_root'

export function randomKey(): string {
  return randomText(7)
}

/** As it is stored and shown: composed Unicode without outer slashes. */
export function normalKey(key: string): string {
  return key.normalize('NFC').replaceAll(/^\/+|\/+$/g, '')
}

/** As it is matched: without regard to case. */
export function lookupKey(key: string): string {
  return normalKey(key).toLowerCase().normalize('NFC')
}

/** Why a key can't be taken, or undefined. */
export function keyProblem(key: string): string | undefined {
  if (key === '') return 'must not be empty'
  if (!key.isWellFormed()) return 'must not contain half of a surrogate pair'
  if (key.startsWith('_')) return 'must not start with `_`'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\s?#\\%\u0000-\u001f\u007f-\u009f]/.test(key))
    return 'must not contain spaces, control characters or any of ? # \\ %'
  if (key.split('/').some((segment) => segment === '' || segment === '.' || segment === '..')) {
    return 'must not contain empty, `.` or `..` path segments'
  }
  return undefined
}
