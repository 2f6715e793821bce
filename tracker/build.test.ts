import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { builtFiles } from './build.ts'

const built = await builtFiles()

test.each(Object.keys(built))('dist/%s is up to date; if not, run: npm run tracker', (name) => {
  expect(readFileSync(join(import.meta.dirname, 'dist', name), 'utf8')).toBe(built[name])
})

test('the script has at most 2 kB compressed', () => {
  expect(gzipSync(built['tracker.js'] ?? '', { level: 9 }).length).toBeLessThanOrEqual(2_048)
})

test('the script does not evaluate strings, which a strict content security policy forbids', () => {
  expect(built['tracker.js']).not.toMatch(/\beval\b|\bFunction\s*\(|innerHTML|document\.write|<script/)
})
