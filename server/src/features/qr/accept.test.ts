import { expect, test } from 'vitest'
import { preferredFormat } from './accept.ts'

test.each([
  ['', 'png'],
  ['*/*', 'png'],
  ['image/png', 'png'],
  ['image/*', 'png'],
  ['image/svg+xml', 'svg'],
  ['IMAGE/SVG+XML', 'svg'],
  ['image/svg+xml;charset=utf-8', 'svg'],
  ['image/svg+xml, */*;q=0.5', 'svg'],
  ['image/svg+xml, image/png;q=0.9', 'svg'],
  ['image/png;q=0.4 , image/svg+xml;q=0.5', 'svg'],
  ['image/svg+xml, image/png', 'png'],
  ['image/svg+xml;q=0', 'png'],
  ['image/svg+xml;q=nonsense', 'png'],
  ['text/html', 'png'],
  ['image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8', 'png'],
  ['image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5', 'png'],
])('%j is answered with %s', (accept, format) => {
  expect(preferredFormat(accept)).toBe(format)
})
