import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { searchableMetadata } from '../event-storage/service.ts'
import { metadataCondition } from './metadata.ts'

test('keys and values of a metadata search are bound parameters', () => {
  const values: Record<string, unknown> = {}
  const text = metadataCondition("metadata['a']['b']:'5'", values)
  expect(text).toBe(
    'if(multiSearchAny(metadata, {metadata0_parts:Array(String)}), multiIf(' +
      "JSONType(metadata, {metadata0_key0:String}, {metadata0_key1:String}) = 'String', " +
      'JSONExtractString(metadata, {metadata0_key0:String}, {metadata0_key1:String}) = {metadata0_text:String}, ' +
      "JSONType(metadata, {metadata0_key0:String}, {metadata0_key1:String}) = 'Bool', " +
      'JSONExtractRaw(metadata, {metadata0_key0:String}, {metadata0_key1:String}) = {metadata0_text:String}, ' +
      "JSONType(metadata, {metadata0_key0:String}, {metadata0_key1:String}) IN ('Int64', 'UInt64', 'Double'), " +
      'JSONExtractFloat(metadata, {metadata0_key0:String}, {metadata0_key1:String}) = ' +
      "reinterpret({metadata0_number:UInt64}, 'Float64'), false), false)",
  )
  expect(values).toEqual({
    metadata0_key0: 'a',
    metadata0_key1: 'b',
    metadata0_text: '5',
    metadata0_number: 0x4014_0000_0000_0000n,
    metadata0_parts: ['"5"', '5'],
  })
})

test('AND, OR and parentheses of a metadata search have the same structure in SQL', () => {
  const shape = (query: string) =>
    metadataCondition(query, {}).replaceAll(/if\(multiSearchAny.*?false\), false\)/g, 'x')
  expect(shape('metadata[a]:1 AND metadata[b]!=2 OR metadata[c]>3')).toBe('((x AND NOT x) OR x)')
  expect(shape('metadata[a]:1 AND (metadata[b]:2 OR metadata[c]:3)')).toBe('(x AND (x OR x))')
})

describe('searchable metadata', () => {
  test.each([
    ['{"a":1}', '{"a":1}'],
    ['{"a":100000000000000000000}', '{"a":1e+20}'],
    [
      '{"a":-123456789012345680000,"b":[12345678901234567000]}',
      '{"a":-1.2345678901234568e+20,"b":[1.2345678901234567e+19]}',
    ],
    ['{"12345678901234567890":":12345678901234567890,\\"12345678901234567890"}', undefined],
    ['{"a":0.12345678901234567,"b":1.2345678901234567e+30}', undefined],
  ])('%s', (json, expected = json) => {
    expect(searchableMetadata(json)).toBe(expected)
  })

  test('searchable metadata parses to the same value as the original JSON', () => {
    const big = fc.bigInt({ min: -(10n ** 21n), max: 10n ** 21n }).map(Number)
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.bigInt().map(String))
    const leaf = fc.oneof(big, text, fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(null, true))
    const json = fc
      .dictionary(text, fc.oneof(leaf, fc.array(leaf), fc.dictionary(text, leaf)))
      .map((o) => JSON.stringify(o))
    fc.assert(
      fc.property(json, (json) => {
        expect(JSON.parse(searchableMetadata(json))).toEqual(JSON.parse(json))
      }),
    )
  })
})
