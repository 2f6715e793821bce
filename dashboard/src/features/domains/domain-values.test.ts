import { expect, test } from 'vitest'
import { blankValues, changedElsewhere, cleanHost, domainPatchBody, newDomainBody } from './domain-values.ts'

test('a new domain has only what was filled in, as the server takes it', () => {
  const values = {
    ...blankValues,
    slug: ' https://go.example.com/x ',
    notFoundUrl: 'example.com/404',
    rootUrl: 'a.com',
  }
  expect(newDomainBody(values)).toEqual({ slug: 'go.example.com', notFoundUrl: 'https://example.com/404' })
})

test('a change has only what differs, and null for what was emptied', () => {
  const before = { ...blankValues, slug: 'go.example.com', placeholder: 'a', expiredUrl: 'https://b.com' }
  expect(domainPatchBody(before, { ...before, placeholder: ' ', rootUrl: 'https://c.com' })).toEqual({
    placeholder: null,
  })
})

test('only fields that somebody else changed are a conflict', () => {
  expect(changedElsewhere(blankValues, { ...blankValues, placeholder: 'theirs' })).toEqual(['placeholder'])
  expect(changedElsewhere(blankValues, blankValues)).toEqual([])
})

test.each([
  ['go.example.com', 'go.example.com'],
  ['HTTPS://go.example.com/path?a=1', 'go.example.com'],
  ['grüße.example', 'grüße.example'],
])('the host of %s', (text, host) => {
  expect(cleanHost(text)).toBe(host)
})
