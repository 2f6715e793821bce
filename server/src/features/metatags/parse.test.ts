import { expect, test } from 'vitest'
import { parseMetatags } from './parse.ts'

const html = 'text/html; charset=utf-8'
const address = 'https://example.com/a/page'
const parse = (text: string, type = html) => parseMetatags(Buffer.from(text), type, address)

test.each<[string, string, object]>([
  ['a title', '<head><title> A  page\n</title>', { title: 'A page', description: null, image: null }],
  [
    'Open Graph before everything else',
    `<title>x</title><meta name=description content="plain"><META content='Best &amp; first &#8364;' property="OG:title">
     <meta property="og:description" content="of og"><meta property="og:image" content="../image.png">`,
    { title: 'Best & first €', description: 'of og', image: 'https://example.com/image.png' },
  ],
  ['an image without a web URL', '<meta property="og:image" content="javascript:alert(1)">', { image: null }],
  ['a title beyond 500 characters', `<title>${'x'.repeat(600)}</title>`, { title: 'x'.repeat(500) }],
  ['nothing', 'plain words', { title: null, description: null, image: null }],
  ['an entity beyond Unicode', '<title>a&#9999999;b</title>', { title: 'ab' }],
])('reads %s', (_, text, expected) => {
  expect(parse(text)).toMatchObject(expected)
})

test('a page is decoded by the charset in its Content-Type header or in a meta tag', () => {
  const bytes = Buffer.from('<meta charset="iso-8859-1"><title>caf\u00e9</title>', 'latin1')
  expect(parseMetatags(bytes, 'text/html', address).title).toBe('café')
  expect(parseMetatags(bytes, 'text/html; charset=no-such', address).title).toContain('caf')
})

test('only HTML has metatags', () => {
  expect(parse('<title>x</title>', 'application/json')).toEqual({ title: null, description: null, image: null })
})

test('hostile pages of 256 kB are parsed in linear time', () => {
  const parts = [
    '<meta ',
    '<meta a=',
    '<title',
    '<meta content="',
    "<meta name='x' ",
    '&#',
    `<meta ${'a'.repeat(2_490)}>`,
  ]
  for (const part of [...parts, '<meta a=b>']) {
    const started = performance.now()
    parse(part.repeat(Math.ceil(262_144 / part.length)))
    expect(performance.now() - started, part.slice(0, 20)).toBeLessThan(500)
  }
})
