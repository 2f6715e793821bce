import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decideFor, plainLink } from '../../../test/redirect/decide.ts'
import { buildRawClick, clickLimits, clip, fitAddress, fitParameters } from './raw-click.ts'

const bytes = (text: string) => Buffer.byteLength(text)
const long = 'x'.repeat(3_000)
const location = { country: long, region: long, city: 'ü'.repeat(3_000), continent: long }

describe('a logged click', () => {
  test('has at most 10 kB besides the destination, whatever its visitor sends', () => {
    const visitor = { ip: long, userAgent: '"'.repeat(20_000), referer: `https://${long}`, purpose: long, location }
    const { loggedUrl = '' } = decideFor({ visit: { query: `a=1&${'ü='.repeat(8_000)}&b=2` } })
    const click = buildRawClick('id', plainLink, { url: loggedUrl, trigger: 'link', bot: '' }, visitor, 0)
    expect(bytes(JSON.stringify(click))).toBeLessThan(10_000)
    expect(click.url).toBe(`${plainLink.url}?a=1&b=2`)
  })

  test('has the whole query up to 2 kB, and the destination has the whole query at any size', () => {
    const fits = `a=${'b'.repeat(2_000)}&utm_source=x`
    expect(decideFor({ visit: { query: fits } }).loggedUrl).toBe(`${plainLink.url}?${fits}`)
    const query = `a=${long}&utm_source=x&b=%C3%A4`
    const { loggedUrl, location } = decideFor({ visit: { query } })
    expect(location).toBe(`${plainLink.url}?${query}`)
    expect(loggedUrl).toBe(`${plainLink.url}?utm_source=x&b=%C3%A4`)
  })

  test('has no query parameter of the destination that the visitor has replaced', () => {
    const link = { url: 'https://example.com/?utm_source=own&x=y' }
    expect(decideFor({ link, visit: { query: `utm_source=${long}` } }).loggedUrl).toBe('https://example.com/?x=y')
  })

  test('keeps a destination of any length', () => {
    const url = `https://example.com/${'a'.repeat(20_000)}?b=${long}`
    expect(decideFor({ link: { url }, visit: { query: 'c=d' } }).loggedUrl).toBe(`${url}&c=d`)
  })
})

test('query parameters are kept whole, in order, and within the size limit', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 900 }), { maxLength: 8 }), (pairs) => {
      const fitted = fitParameters(pairs)
      expect(bytes(fitted.join('&'))).toBeLessThanOrEqual(clickLimits.query)
      let next = 0
      for (const pair of fitted) next = pairs.indexOf(pair, next) + 1
      expect(fitted.length === 0 || next > 0).toBe(true)
      if (bytes(pairs.join('&')) < clickLimits.query) expect(fitted).toEqual(pairs)
    }),
  )
})

test('clip returns a prefix that ends between two characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.integer({ min: 0, max: 400 }), (text, limit) => {
      const clipped = clip(text, limit)
      expect(bytes(clipped)).toBeLessThanOrEqual(limit)
      expect(text.startsWith(clipped)).toBe(true)
      expect(clipped.isWellFormed()).toBe(true)
      if (bytes(text) <= limit) expect(clipped).toBe(text)
    }),
  )
})

test.each([
  ['https://e.com/a?b=c#d', 'https://e.com/a?b=c#d'],
  [`https://e.com/a?b=${long}&c=d#e`, 'https://e.com/a?c=d'],
  [`https://e.com/a#${long}`, 'https://e.com/a'],
  [`https://e.com/a${'%C3%A4'.repeat(500)}?c=d`, `https://e.com/a${'%C3%A4'.repeat(338)}%C3?c=d`],
])('a reported page %# keeps whole parameters and no partial escape', (url, expected) => {
  expect(fitAddress(url)).toBe(expected)
})
