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
