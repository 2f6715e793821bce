import { expect, test } from 'vitest'
import { shortAddress, shortDestination } from './texts.ts'

test('the address of a bare domain has no slug', () => {
  expect(shortAddress({ domain: 'go.acme.com', key: '_root' })).toBe('go.acme.com')
  expect(shortAddress({ domain: 'go.acme.com', key: 'a/b' })).toBe('go.acme.com/a/b')
})

test('destinations are shown without what they all have', () => {
  expect(shortDestination('https://www.acme.com/')).toBe('acme.com')
  expect(shortDestination('http://acme.com/a?b=c')).toBe('acme.com/a?b=c')
  expect(shortDestination('myapp://open/1')).toBe('myapp://open/1')
  expect(shortDestination(`https://a.com/${'x'.repeat(10_000)}`).length).toBeLessThan(300)
})
