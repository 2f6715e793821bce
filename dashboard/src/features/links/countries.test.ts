import { expect, test } from 'vitest'
import { countryNames } from './countries.ts'

test('countries have their names in the language of the page, and only countries do', () => {
  const names = countryNames('de')
  expect(names.get('AT')).toBe('Österreich')
  expect(names.has('EU')).toBe(false)
  expect(names.has('ZZ')).toBe(false)
  expect(names.size).toBeGreaterThan(240)
  expect([...names.values()].indexOf('Ägypten')).toBeLessThan([...names.values()].indexOf('Belgien'))
})

test('a country is there once, under its present code', () => {
  const names = countryNames('en')
  expect(new Set(names.values()).size).toBe(names.size)
  expect(names.get('DE')).toBe('Germany')
  for (const former of ['DD', 'SU', 'UK', 'YU']) expect(names.has(former)).toBe(false)
})
