import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type MetadataQuery, parseMetadataQuery } from './metadata-query.ts'

const is = (key: string, value: string): MetadataQuery => ({ path: [key], operator: '=', value })

describe('a valid metadata query is parsed', () => {
  test.each<[string, MetadataQuery]>([
    ["metadata['plan']:'pro'", is('plan', 'pro')],
    ['metadata["plan"]:"pro"', is('plan', 'pro')],
    ['metadata[plan]:pro', is('plan', 'pro')],
    ["metadata['plan']='pro'", is('plan', 'pro')],
    [" metadata [ 'plan' ] : 'pro' ", is('plan', 'pro')],
    ["metadata['']:''", is('', '')],
    ["metadata['it\\'s']:'a \\\\ \\\" \\n'", is("it's", 'a \\ " \\n')],
    ['metadata["it\'s"]:"AND (x) OR"', is("it's", 'AND (x) OR')],
    ["metadata['a.b-c d']:'é 😀'", is('a.b-c d', 'é 😀')],
    ["metadata['a']['b']['c']:'1'", { path: ['a', 'b', 'c'], operator: '=', value: '1' }],
    ["metadata['n']!='1'", { path: ['n'], operator: '!=', value: '1' }],
    ["metadata['n']>'1'", { path: ['n'], operator: '>', value: '1' }],
    ["metadata['n'] >= 1.5", { path: ['n'], operator: '>=', value: '1.5' }],
    ["metadata['n']<-1", { path: ['n'], operator: '<', value: '-1' }],
    ["metadata['n']<='2025-01-31'", { path: ['n'], operator: '<=', value: '2025-01-31' }],
    ['metadata[a]:1 AND metadata[b]:2', { all: [is('a', '1'), is('b', '2')] }],
    ['metadata[a]:1 or metadata[b]:2', { any: [is('a', '1'), is('b', '2')] }],
    [
      'metadata[a]:1 AND metadata[b]:2 OR metadata[c]:3',
      { any: [{ all: [is('a', '1'), is('b', '2')] }, is('c', '3')] },
    ],
    [
      'metadata[a]:1 AND (metadata[b]:2 OR metadata[c]:3)',
      { all: [is('a', '1'), { any: [is('b', '2'), is('c', '3')] }] },
    ],
    ['((metadata[a]:1))', is('a', '1')],
  ])('%s', (text, query) => {
    expect(parseMetadataQuery(text)).toEqual(query)
  })
})

describe('an invalid metadata query is refused, with the position of the error', () => {
  test.each([
    ['pro', 'character 1 ("pro"): expected `metadata['],
    ["metadata:'pro'", 'character 9 (":\'pro\'"): expected a key'],
    ["metadata['plan'", 'its end: expected `]` after the key'],
    ["metadata['plan]:'pro'", 'character 18 ("pro\'"): expected `]` after the key'],
    ["metadata['plan']:'pro", "a quote (') that is not closed, at character 18"],
    ["metadata['plan']", 'its end: expected one of `:`'],
    ["metadata['plan']~'pro'", 'character 17 ("~\'pro\'"): expected one of'],
    ["metadata['plan']:", 'its end: expected a value'],
    ["metadata['plan']:'pro' metadata['a']:'b'", "character 24 (\"metadata['a']:'b'\"): expected AND, OR or the end"],
    ["metadata['plan']:'pro' AND", 'its end: expected `metadata['],
    ["(metadata['plan']:'pro'", 'its end: expected AND, OR or `)`'],
    ["metadata['plan']:'pro')", 'character 23 (")"): expected AND, OR or the end'],
    ["metadata['plan']:'pro' ANDROID", 'character 24 ("ANDROID"): expected AND, OR or the end'],
    [Array.from({ length: 51 }, () => 'metadata[a]:1').join(' AND '), 'has more than 50 conditions, at character 901'],
    [`${'('.repeat(21)}metadata[a]:1`, 'has more than 20 levels of nested parentheses, at character 21'],
  ])('%s', (text, message) => {
    expect(() => parseMetadataQuery(text)).toThrow(message)
    expect(() => parseMetadataQuery(text)).toThrow('`query` in the query')
  })
})

test('every quoted value of a metadata query is read back', () => {
  const text = fc.string({ unit: 'binary' })
  const quoted = (value: string, quote: string) => quote + value.replaceAll(/['"\\]/g, '\\$&') + quote
  fc.assert(
    fc.property(
      fc.array(text, { minLength: 1, maxLength: 4 }),
      text,
      fc.constantFrom("'", '"'),
      (path, value, quote) => {
        const keys = path.map((key) => `[${quoted(key, quote)}]`).join('')
        expect(parseMetadataQuery(`metadata${keys}:${quoted(value, quote)}`)).toEqual({ path, operator: '=', value })
      },
    ),
  )
})

test('no metadata query throws an unexpected error', () => {
  const words = fc.constantFrom('metadata', '[', ']', "'a'", ':', '>=', '(', ')', 'AND', 'OR', '"', '\\', "'", ' ')
  const phrase = fc.array(words, { maxLength: 12 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), phrase), (text) => {
      try {
        parseMetadataQuery(text)
      } catch (error) {
        expect(error).toMatchObject({ code: 'unprocessable_entity' })
      }
    }),
    { numRuns: 2_000 },
  )
})
