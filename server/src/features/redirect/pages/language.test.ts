import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chooseLanguage, languages } from './language.ts'

test.each([
  ['', 'en'],
  ['de', 'de'],
  ['de-AT', 'de'],
  ['DE-de', 'de'],
  ['de-CH-1996', 'de'],
  ['zh-Hant-TW', 'zh'],
  ['ja,en;q=0.9', 'ja'],
  ['en-GB,en;q=0.9,fr;q=0.8', 'en'],
  ['fr;q=0.8, es;q=0.9', 'es'],
  ['fr;q=0.8,es;q=0.8', 'fr'],
  ['pt-BR', 'en'],
  ['pt-BR,pt;q=0.9,es;q=0.8,en;q=0.7', 'es'],
  ['pt-BR,*;q=0.5', 'en'],
  ['*', 'en'],
  ['de;q=0', 'en'],
  ['de;q=0,fr;q=0.1', 'fr'],
  ['de ; q=0.4 , fr ; q=0.6', 'fr'],
  ['de;q=0.001,fr;q=0.002', 'fr'],
  ['de;level=1;q=0.2,fr;q=0.3', 'fr'],
  ['de;q=2,fr;q=0.5', 'fr'],
  ['de;q=-1,fr;q=0.5', 'fr'],
  ['de;q=x,fr;q=0.5', 'fr'],
  ['de;q=,fr;q=0.5', 'fr'],
  ['deutsch', 'en'],
  ['d', 'en'],
  [';;;,,,', 'en'],
])('%j selects %s', (header, language) => {
  expect(chooseLanguage(header)).toBe(language)
})

test('any text selects a supported language', () => {
  fc.assert(
    fc.property(fc.string(), (header) => {
      expect(languages).toContain(chooseLanguage(header))
    }),
  )
})
