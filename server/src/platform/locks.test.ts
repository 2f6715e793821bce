import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { locks } from './locks.ts'

test('every advisory lock has a unique number', () => {
  const numbers = Object.values(locks)
  expect(new Set(numbers).size).toBe(numbers.length)
})

test('no other file contains the number of an advisory lock', () => {
  const cwd = join(import.meta.dirname, '..')
  const files = globSync('**/*.ts', { cwd, exclude: ['**/*.test.ts', 'platform/locks.ts'] })
  const literal =
    /advisory\w*\(\s*\d|advisory\w*\((?:(?!locks\.)[^`])*hashtextextended\([^`]*,\s*\d+\)|\b7_?240_?8\d\d\b/
  const withNumber = files.filter((file) => literal.test(readFileSync(join(cwd, file), 'utf8')))
  expect(withNumber).toEqual([])
  const withLock = files.filter((file) => /\bpg_(?:try_)?advisory/.test(readFileSync(join(cwd, file), 'utf8')))
  expect(withLock).toContain('features/links/store.ts')
  for (const file of withLock) expect(readFileSync(join(cwd, file), 'utf8'), file).toContain('locks.')
})
