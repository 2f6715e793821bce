import { describe, expect, test } from 'vitest'
import { isPermissive, licenceFaults, type Package } from './licences.ts'

describe('isPermissive', () => {
  test.each([
    ['MIT', true],
    ['Apache-2.0', true],
    ['(MIT)', true],
    ['GPL-3.0-only', false],
    ['AGPL-3.0-or-later', false],
    ['MPL-2.0', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['', false],
    ['MIT OR GPL-2.0', true],
    ['GPL-2.0 OR MIT', true],
    ['(AFL-2.1 OR BSD-3-Clause)', true],
    ['GPL-2.0 OR LGPL-3.0', false],
    ['MIT AND Zlib', true],
    ['MIT AND GPL-2.0', false],
    ['GPL-2.0 AND MIT', false],
    ['GPL-2.0 OR (MIT AND ISC)', true],
    ['(GPL-2.0 OR MIT) AND ISC', true],
    ['(GPL-2.0 OR LGPL-3.0) AND ISC', false],
    ['MIT OR GPL-2.0 AND GPL-3.0', true],
    ['Apache-2.0 WITH LLVM-exception', true],
    ['GPL-2.0 WITH Classpath-exception-2.0', false],
    ['Apache-2.0 WITH', false],
    ['MIT ISC', false],
    ['(MIT', false],
    ['MIT)', false],
  ])('%s: %s', (expression, expected) => {
    expect(isPermissive(expression)).toBe(expected)
  })
})

describe('licenceFaults', () => {
  const one = (changes: Partial<Package>): Package[] => [
    { name: 'some', version: '1.0.0', licence: 'MIT', isOnlyForDevelopment: false, requiredBy: ['server'], ...changes },
  ]

  test('the message has the package, its licence and the packages that require it', () => {
    expect(licenceFaults(one({ licence: 'GPL-3.0' }))).toEqual([
      'some@1.0.0 (required by server) is under GPL-3.0, which is not on the list of permissive licences',
    ])
    expect(licenceFaults(one({ licence: '', requiredBy: [] }))).toEqual([
      'some@1.0.0 (required by nobody) is under no stated licence, which is not on the list of permissive licences',
    ])
  })

  test.each([
    ['a permissive one', one({}), 0],
    ['an exception among the tools', one({ name: 'lightningcss', licence: 'MPL-2.0', isOnlyForDevelopment: true }), 0],
    ['its binary', one({ name: 'lightningcss-linux-x64-gnu', licence: 'MPL-2.0', isOnlyForDevelopment: true }), 0],
    ['the exception once it ships', one({ name: 'lightningcss', licence: 'MPL-2.0' }), 1],
    [
      'the exception under another licence',
      one({ name: 'lightningcss', licence: 'GPL-2.0', isOnlyForDevelopment: true }),
      1,
    ],
    ['the same licence without an exception', one({ licence: 'MPL-2.0', isOnlyForDevelopment: true }), 1],
    ['ua-parser-js 1', one({ name: 'ua-parser-js', version: '1.0.41' }), 0],
    ['ua-parser-js 2, whatever it says', one({ name: 'ua-parser-js', version: '2.0.4' }), 1],
  ])('%s', (_, packages, count) => {
    expect(licenceFaults(packages)).toHaveLength(count)
  })
})
