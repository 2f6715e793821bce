import { expect, test } from 'vitest'
import { findIconUrls } from './candidates.ts'

const page = 'https://example.com/shop/'

test.each<[html: string, urls: string[]]>([
  ['<link rel="icon" href="/a.png">', ['https://example.com/a.png']],
  ["<LINK REL='shortcut icon' HREF=b.ico>", ['https://example.com/shop/b.ico']],
  [
    '<link rel=icon sizes=16x16 href=/16.png><link rel=icon sizes=64x64 href=/64.png>',
    ['https://example.com/64.png', 'https://example.com/16.png'],
  ],
  [
    '<link rel="apple-touch-icon" sizes="180x180" href="/t.png"><link rel="icon" sizes="32x32" href="/i.png">',
    ['https://example.com/i.png', 'https://example.com/t.png'],
  ],
  ['<link rel="icon" href="//cdn.example.net/i.png?a=1&amp;b=2">', ['https://cdn.example.net/i.png?a=1&b=2']],
  ['<link rel="icon" type="image/svg+xml" href="/i"><link rel="icon" href="/i.svg">', []],
  ['<link rel="icon" href="data:image/png;base64,AA=="><link rel="icon" href="javascript:alert(1)">', []],
  ['<link rel="stylesheet" href="/a.css"><link rel="icon">', []],
])('%s', (html, urls) => {
  expect(findIconUrls(html, page)).toEqual(urls)
})

test('a page of a million unclosed tags takes less than a second', () => {
  const started = performance.now()
  findIconUrls('<link rel="icon" '.repeat(60_000), page)
  expect(performance.now() - started).toBeLessThan(1_000)
})
