import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { estimateBytes, openByteCache, openRecentEntries } from './byte-cache.ts'

const source = fileURLToPath(new URL('..', import.meta.url))

test('the least recently used entry is evicted when the bytes are full', () => {
  const cache = openByteCache<string>({ maxBytes: 10_000 })
  for (const key of ['a', 'b', 'c']) cache.set(key, key.repeat(1_500))
  expect([...cache.keys()].sort()).toEqual(['b', 'c'].concat(cache.has('a') ? ['a'] : []).sort())
  cache.get('b')
  cache.set('d', 'd'.repeat(1_500))
  cache.set('e', 'e'.repeat(1_500))
  expect(cache.has('b') || cache.has('d')).toBe(true)
  expect(cache.calculatedSize).toBeLessThanOrEqual(10_000)
})

test('long keys count too, and a value larger than the cache is not cached', () => {
  const cache = openByteCache<string>({ maxBytes: 10_000 })
  for (let index = 0; index < 100; index++) cache.set(`${index}`.padEnd(1_000, 'x'), '')
  expect(cache.size).toBeLessThan(5)
  cache.set('large', 'x'.repeat(10_000))
  expect(cache.has('large')).toBe(false)
})

test('the estimate is not below the real memory of a value', () => {
  const values = Array.from({ length: 2_000 }, (_, index) => ({
    url: `https://example.com/${index}/${'x'.repeat(500)}`,
    geo: { DE: `https://example.de/${index}`, FR: `https://example.fr/${index}` },
    at: index,
    list: [1, 2, 3],
  }))
  const text = JSON.stringify(values)
  const before = memory()
  const copy = JSON.parse(text)
  const used = memory() - before
  expect(estimateBytes(copy)).toBeGreaterThan(0.8 * used)

  function memory(): number {
    globalThis.gc?.()
    return process.memoryUsage().heapUsed
  }
})

test('every memory cache of the server is bounded by bytes', () => {
  const files = globSync('**/*.ts', { cwd: source }).filter((file) => !file.endsWith('.test.ts'))
  const users = files.filter((file) => readFileSync(`${source}/${file}`, 'utf8').includes("from 'lru-cache'"))
  expect(users).toEqual(['platform/byte-cache.ts'])
})

test('recent entries keep at least the newest half, and forget older ones', () => {
  const entries = openRecentEntries<number>(10)
  for (let number = 0; number < 100; number++) {
    entries.set(`${number}`, number)
    for (let back = 0; back < 5; back++) if (number >= back) expect(entries.get(`${number - back}`)).toBe(number - back)
  }
  expect(
    Array.from({ length: 100 }, (_, number) => entries.get(`${number}`)).filter(Boolean).length,
  ).toBeLessThanOrEqual(10)
})
