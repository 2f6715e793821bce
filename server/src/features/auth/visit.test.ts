import { expect, test } from 'vitest'
import { safeNext } from './visit.ts'

const api = 'https://api.example.com'

test.each(['/', '/account', '/invite?token=a%2Fb#top', '/a//b'])('%s is a path of this server', (path) => {
  expect(safeNext(path, api)).toBe(path)
})

test.each([
  '',
  'account',
  '//evil.example',
  '/\\evil.example',
  '\\\\evil.example',
  '/\t/evil.example',
  '/\n//evil.example',
  '/..//evil.example',
  '/.//evil.example',
  'https://api.example.com.evil.example/',
  'https://evil.example/',
  'javascript:alert(1)',
  'data:text/html,x',
  `/${'a'.repeat(3_000)}`,
  null,
])('%j is replaced', (next) => {
  expect(safeNext(next, api)).toBe('/app')
})
