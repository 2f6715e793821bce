import { expect, test } from 'vitest'
import { findFinding, pageAddress } from './findings.ts'
import { parseCheckSearch } from './search.ts'

const page = { url: 'https://shop.example/', status: 200, tag: 'found', scriptUrl: null, blockedBy: null } as const

test.each([
  [{ status: null, tag: null }, 'unreadable'],
  [{ status: 404, tag: null }, 'status'],
  [{ tag: 'missing' }, 'tagMissing'],
  [{ tag: 'elsewhere' }, 'tagElsewhere'],
  [{ blockedBy: 'script-src' }, 'scriptBlocked'],
  [{ blockedBy: 'connect-src' }, 'reportBlocked'],
  [{}, 'tagFound'],
] as const)('%j is %s', (given, finding) => {
  expect(findFinding({ ...page, ...given })).toBe(finding)
})

test('an address without a scheme is one of https', () => {
  expect(pageAddress(' shop.example/a ')).toBe('https://shop.example/a')
  expect(pageAddress('http://127.0.0.1:8080')).toBe('http://127.0.0.1:8080')
  expect(pageAddress('127.0.0.1:8080')).toBe('https://127.0.0.1:8080')
  expect(pageAddress(' ')).toBe('')
})

test('the address of the screen has the check, and nothing else', () => {
  expect(parseCheckSearch({ check: 'chk_0-1', other: 1 })).toEqual({ check: 'chk_0-1' })
  expect(parseCheckSearch({ check: '../x' })).toEqual({})
})
