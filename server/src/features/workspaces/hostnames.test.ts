import { describe, expect, test } from 'vitest'
import { isAllowedPage, normalHostname } from './hostnames.ts'

describe('normalHostname', () => {
  test.each([
    ['example.com', 'example.com'],
    [' WWW.Example.COM ', 'example.com'],
    ['*.example.com', '*.example.com'],
    ['localhost', 'localhost'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['127.0.0.1', '127.0.0.1'],
  ])('%j is stored as %j', (given, stored) => expect(normalHostname(given)).toBe(stored))

  test.each(['', '*', '*.', 'a b', 'https://example.com', 'example.com/path', 'example.com:8080', 'a.*.com', '**.com'])(
    '%j is not a hostname',
    (given) => expect(normalHostname(given)).toBeNull(),
  )
})

describe('isAllowedPage', () => {
  test.each([
    [[], 'anything.example', true],
    [[], '', true],
    [['example.com'], 'example.com', true],
    [['example.com'], 'www.example.com', true],
    [['example.com'], 'EXAMPLE.com', true],
    [['example.com'], 'shop.example.com', false],
    [['example.com'], 'badexample.com', false],
    [['example.com'], '', false],
    [['*.example.com'], 'shop.example.com', true],
    [['*.example.com'], 'a.b.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], 'www.example.com', false],
    [['*.example.com'], 'badexample.com', false],
    [['other.example', '*.example.com'], 'shop.example.com', true],
  ])('allowed %j, page on %j: %j', (allowed, page, expected) => expect(isAllowedPage(allowed, page)).toBe(expected))
})
