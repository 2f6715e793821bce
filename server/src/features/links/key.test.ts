import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keyProblem, lookupKey, normalKey, randomKey, rootKey } from './key.ts'
import { addressedKey } from './service.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 40 })
const likelyText = fc.string({
  unit: fc.constantFrom(..."abZ/._-~!$&'()*+,;=:@éÉßΣςİıK\u0301\u{1F600}漢字"),
  minLength: 1,
  maxLength: 30,
})
const acceptedKey = fc
  .oneof(anyText, likelyText)
  .map(normalKey)
  .filter((key) => keyProblem(key) === undefined)

test.each([
  ['abc', 'abc'],
  ['/abc', 'abc'],
  ['abc/', 'abc'],
  ['//a/b//', 'a/b'],
  ['/', ''],
  ['Cafe\u0301', 'Café'],
])('the key %j is shown as %j', (given, shown) => {
  expect(normalKey(given)).toBe(shown)
})

test.each([
  ['ABC', 'abc'],
  ['/Path/To', 'path/to'],
  ['CAFE\u0301', 'café'],
  ['CAFÉ', 'café'],
  ['\u212Aelvin', 'kelvin'],
])('the key %j is looked up as %j', (given, matched) => {
  expect(lookupKey(given)).toBe(matched)
})

test.each(['', '/', '//'])('the path %j is the bare domain', (path) => {
  expect(addressedKey(path)).toBe(rootKey)
})

describe('keyProblem', () => {
  test.each(['abc', 'a', 'a/b/c', 'v1.2', 'a_b', 'ümlaut', '漢字', '\u{1F600}', "it's-(fine)!", 'a:b@c'])(
    '%j is allowed',
    (key) => {
      expect(keyProblem(key)).toBeUndefined()
    },
  )

  test.each([
    ['', 'must not be empty'],
    ['a b', /spaces/],
    ['a\u00a0b', /spaces/],
    ['a\tb', /control/],
    ['a\u0000', /control/],
    ['a\u007f', /control/],
    ['a\u0085', /control/],
    ['a?b', /\?/],
    ['a#b', /#/],
    ['a\\b', /\\/],
    ['a%20b', /%/],
    ['a//b', /empty/],
    ['a/./b', /`\.`/],
    ['../a', /`\.\.`/],
    ['a/..', /`\.\.`/],
    ['\ud800', /surrogate/],
  ])('the key %j is refused', (key, reason) => {
    expect(keyProblem(key)).toMatch(reason)
  })
})

test('a random key has seven letters or digits, is allowed, and is unique', () => {
  const keys = Array.from({ length: 1_000 }, () => randomKey())
  for (const key of keys) {
    expect(key).toMatch(/^[A-Za-z0-9]{7}$/)
    expect(keyProblem(key)).toBeUndefined()
  }
  expect(new Set(keys).size).toBe(keys.length)
})

test('a normal key stays unchanged', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, likelyText), (key) => {
      expect(normalKey(normalKey(key))).toBe(normalKey(key))
      expect(lookupKey(lookupKey(key))).toBe(lookupKey(key))
      expect(lookupKey(normalKey(key))).toBe(lookupKey(key))
    }),
    { numRuns: 1_000 },
  )
})

test('every allowed key is found by its address', () => {
  fc.assert(
    fc.property(acceptedKey, (key) => {
      const { pathname } = new URL(`https://go.example.com/${encodeURI(key)}`)
      expect(addressedKey(decodeURIComponent(pathname))).toBe(lookupKey(key))
    }),
    { numRuns: 1_000 },
  )
})

test.each([
  ['a control character', 'a\0'],
  ['a space', 'a b'],
  ['a reserved name', '_root'],
  ['an empty segment', 'a//b'],
  ['a key over the limit', 'a'.repeat(571)],
])('a path with %s has no lookup key', (_name, path) => {
  expect(addressedKey(path)).toBeNull()
})

test('upper case and decomposed letters lead to the same link', () => {
  fc.assert(
    fc.property(acceptedKey, (key) => {
      expect(lookupKey(key.normalize('NFD'))).toBe(lookupKey(key))
      expect(lookupKey(key.toLowerCase())).toBe(lookupKey(key))
    }),
    { numRuns: 1_000 },
  )
})
