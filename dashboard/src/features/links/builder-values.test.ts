import { expect, test } from 'vitest'
import { shared } from './builder-shares.ts'
import { addUtm, blankValues, errorField, linkPatchBody, newLinkBody, withScheme } from './builder-values.ts'

test('a new link has only the fields that were filled in', () => {
  const values = { ...blankValues, url: 'acme.com/a', key: 'a', utm_source: 'news' }
  expect(newLinkBody(values)).toEqual({
    url: 'https://acme.com/a',
    key: 'a',
    utm_source: 'news',
  })
})

test('a change has only what differs, and null for what was emptied', () => {
  const before = { ...blankValues, url: 'https://a.com', comments: 'old', tagIds: ['t1'] }
  expect(linkPatchBody(before, { ...before })).toEqual({})
  expect(linkPatchBody(before, { ...before, comments: '', tagIds: [], url: 'b.com' })).toEqual({
    url: 'https://b.com',
    comments: null,
    tagIds: [],
  })
})

test('destinations by country, system and share are sent with their scheme, and those without an address are not', () => {
  const before = { ...blankValues, url: 'https://a.com', ios: 'https://i.com', geo: { DE: 'https://de.com' } }
  const after = { ...before, ios: '', geo: { DE: '', AT: 'at.com' }, testVariants: shared(['a.com', 'b.com']) }
  expect(linkPatchBody(before, after)).toEqual({
    ios: null,
    geo: { AT: 'https://at.com' },
    testVariants: [
      { url: 'https://a.com', percentage: 50 },
      { url: 'https://b.com', percentage: 50 },
    ],
  })
  expect(linkPatchBody(before, { ...before, geo: {} })).toEqual({ geo: null })
  expect(newLinkBody({ ...after, rewrite: true })).toMatchObject({ geo: { AT: 'https://at.com' }, rewrite: true })
})

test('destinations get a scheme unless they have one', () => {
  expect(withScheme(' acme.com ')).toBe('https://acme.com')
  expect(withScheme('localhost:3000/a')).toBe('https://localhost:3000/a')
  expect(withScheme('myapp://open')).toBe('myapp://open')
  expect(withScheme('mailto:a@b.c')).toBe('mailto:a@b.c')
})

test('UTM values appear in the destination', () => {
  const values = { ...blankValues, utm_source: 'news letter', utm_campaign: ' autumn ' }
  expect(addUtm('acme.com/a?b=1#c', values)).toBe('https://acme.com/a?b=1&utm_source=news+letter&utm_campaign=autumn#c')
  expect(addUtm('not a url %', values)).toBe('not a url %')
})

test("the server's error is shown at the field that it names", () => {
  expect(errorField('`url` in the body is required.', 400)).toBe('url')
  expect(errorField('go.acme.com/a is already taken. Choose another key.', 409)).toBe('key')
  expect(errorField('`testVariants[0].url` in the body is no URL.', 422)).toBe('testVariants')
  expect(errorField('`userId` in the body is unknown.', 422)).toBeUndefined()
})
