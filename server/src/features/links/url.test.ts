import fc from 'fast-check'
import { expect, test } from 'vitest'
import { imageProblem, urlProblem } from './url.ts'

test.each([
  'https://example.com',
  'http://example.com/a?b=c#d',
  'https://example.com:8443/path',
  'https://münchen.example/straße?q=ü',
  'https://[2001:db8::1]/',
  'HTTPS://EXAMPLE.COM',
  'https://example.com/a@b',
  'mailto:hello@example.com',
  'tel:+4930123456',
  'whatsapp://send?text=hi',
  'itms-apps://apps.apple.com/app/id1',
])('%s is allowed as a destination', (url) => {
  expect(urlProblem(url)).toBeUndefined()
})

test.each([
  ['', /absolute URL/],
  ['example.com', /absolute URL/],
  ['/path', /absolute URL/],
  ['//example.com', /absolute URL/],
  ['https://', /absolute URL/],
  ['https://exa mple.com', /absolute URL/],
  ['javascript:alert(1)', /must start with http/],
  ['JavaScript:alert(1)', /must start with http/],
  ['data:text/html,x', /must start with http/],
  ['ftp://example.com', /must start with http/],
  ['file:///etc/passwd', /must start with http/],
  ['https://user@example.com', /user name or password/],
  ['https://user:secret@example.com', /user name or password/],
  ['https://:secret@example.com', /user name or password/],
  ['https://example.com/\u0000', /control characters/],
  ['https://exam\nple.com/', /control characters/],
])('%j is refused as a destination', (url, reason) => {
  expect(urlProblem(url)).toMatch(reason)
})

test('an accepted destination fits a Location header and keeps its meaning', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), fc.string()), (url) => {
      if (urlProblem(url) !== undefined) return
      const { href } = new URL(url)
      expect(href).toMatch(/^https?:\/\/[\x21-\x7e]+$/)
      expect(new URL(href).href).toBe(href)
    }),
  )
})

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

test.each([
  ['https://example.com/a.png', true],
  [`data:image/png;base64,${png}`, true],
  ['data:image/gif;base64,R0lGODlhAQABAAAAACw=', true],
  ['data:image/jpg;base64,/9j/4AAQSkZJRg==', true],
  ['data:image/webp;base64,UklGRiQAAABXRUJQVlA4', true],
  [`data:image/jpeg;base64,${png}`, false],
  [`data:image/svg+xml;base64,${Buffer.from('<svg onload="alert(1)"/>').toString('base64')}`, false],
  ['data:text/html;base64,PHNjcmlwdD4=', false],
  ['data:image/png,plain', false],
  ['data:image/png;base64,', false],
  [`data:image/png;base64,${png}"><script>`, false],
  ['javascript:alert(1)', false],
])('the image URL %s is accepted: %s', (url, taken) => {
  expect(imageProblem(url) === undefined).toBe(taken)
})
