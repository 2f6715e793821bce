import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { printCountries } from '../../../write-countries.ts'
import { mapSize } from './countries.ts'
import { countries, moveRank, rankValues, shade } from './map.ts'

const text = readFileSync(join(import.meta.dirname, 'countries.ts'), 'utf8')

test('`npm run countries` writes the same file again', () => {
  expect(printCountries() === text).toBe(true)
})

test('the countries leave most of the 45 kB of a map to its script', () => {
  expect(gzipSync(text, { level: 9 }).length).toBeLessThan(25_000)
})

test('every code names a country, whose name is within the map', () => {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' })
  expect(countries.size).toBeGreaterThan(230)
  for (const { code, x, y } of countries.values()) {
    expect(names.of(code), code).toBeTypeOf('string')
    expect([x >= 0, x <= mapSize.width, y >= 0, y <= mapSize.height], code).toEqual([true, true, true, true])
  }
})

test('large countries have a shape, small ones a place', () => {
  for (const code of ['DE', 'US', 'RU', 'XK', 'CY', 'LU'])
    expect(countries.get(code)?.path, code).toMatch(/^M[-\d Mlz]+z$/)
  for (const code of ['SG', 'HK', 'MT', 'LI']) expect(countries.get(code), code).toMatchObject({ path: undefined })
  expect(countries.has('AQ')).toBe(false)
})

test('countries are ordered by value, those without one are left out', () => {
  const values = new Map([
    ['FR', 5],
    ['DE', 9],
    ['AT', 5],
    ['CH', 0],
  ])
  expect(rankValues(values)).toEqual([
    ['DE', 9],
    ['AT', 5],
    ['FR', 5],
  ])
})

test('a colour grows by the square root of its value', () => {
  expect(shade(100, 100)).toBe(1)
  expect(shade(25, 100)).toBeCloseTo(0.61)
  expect(shade(1, 1_000_000)).toBeGreaterThan(0.2)
})

test.each([
  ['ArrowRight', 0, 1],
  ['ArrowDown', 4, 4],
  ['ArrowLeft', 2, 1],
  ['ArrowUp', 0, 0],
  ['ArrowUp', -1, 0],
  ['Home', 3, 0],
  ['End', 0, 4],
  ['Tab', 0, undefined],
])('%s leads from %d to %s of 5', (key, from, to) => {
  expect(moveRank(key, from, 5)).toBe(to)
})
