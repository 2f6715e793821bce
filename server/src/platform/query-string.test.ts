import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutQuery, decodeForm, parseParameters, readParameters, withParameters } from './query-string.ts'
import { readQuery } from './validation.ts'

const pieces = [
  '%',
  'F',
  'f',
  '0',
  'a',
  '+',
  '2',
  '6',
  '%C3%A9',
  '%ff',
  '%80',
  '%e2%82',
  '%zz',
  '?',
  '.',
  '%F0%9F%99%82',
]
const text = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(''))
const valid = fc.array(fc.constantFrom('a', '+', '%20', '%C3%A9', 'é', '🙂', '日')).map((parts) => parts.join(''))

test('names and values are decoded as URLSearchParams decodes them', () => {
  fc.assert(
    fc.property(fc.oneof(text, valid), (encoded) => {
      expect(decodeForm(encoded)).toBe(new URLSearchParams(`a=${encoded}`).get('a'))
    }),
  )
})

test('the parameters of a query are those of URLSearchParams, in order', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text)), (pairs) => {
      const query = pairs.map(([name, value]) => `n${name}=${value}`).join('&')
      expect(parseParameters(query)).toEqual([...new URLSearchParams(query)])
    }),
  )
  expect(parseParameters('a=1&&b&=c')).toEqual([...new URLSearchParams('a=1&&b&=c')])
  expect(parseParameters('&&&a=1&b=2&c=3', 2)).toEqual([
    ['a', '1'],
    ['b', '2'],
  ])
})

test('the first value of a name counts, also of an encoded name', () => {
  expect(readParameters('%61=1&a=2&b=%20', ['a', 'b', 'c'])).toEqual({ a: '1', b: ' ', c: null })
  expect(cutQuery('https://example.com/?a=1#?b')).toBe('a=1')
  expect(cutQuery('https://example.com/')).toBe('')
})

test('parameters of a URL are set and removed', () => {
  const url = 'https://example.com/?a=%FF&b=2&b=3#end'
  expect(withParameters(url, { b: '4', c: 'ü', d: undefined })).toBe(
    'https://example.com/?a=%EF%BF%BD&b=4&c=%C3%BC#end',
  )
  expect(withParameters('https://example.com/?b=2', { b: null })).toBe('https://example.com/')
  expect(withParameters(url, {})).toBe(url)
})

test('names that are not valid UTF-8 take hardly longer than others', () => {
  const least = (name: string) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const started = performance.now()
        parseParameters(`${name}&`.repeat(10_000))
        return performance.now() - started
      }),
    )
  expect(least('%FF')).toBeLessThan(4 * least('%41') + 5)
})

test('a request has at most 2,000 parameters', () => {
  expect(
    Object.keys(readQuery(`https://example.com/?${Array.from({ length: 2_000 }, (_, n) => `n${n}=1`).join('&')}`)),
  ).toHaveLength(2_000)
  expect(() => readQuery(`https://example.com/?${'%FF&'.repeat(30_000)}`)).toThrow('more than 2000 parameters')
  expect(readQuery('https://example.com/?a=1&b=&a=2&=3&__proto__=x')).toEqual(
    Object.fromEntries([
      ['a', ['1', '2']],
      ['__proto__', 'x'],
    ]),
  )
})
